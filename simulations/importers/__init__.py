"""Files of other tools, to objects and scenarios. Pure: text in, values and a receipt out."""
