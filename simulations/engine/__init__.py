"""The engine: a discrete-event model of a Kubernetes control plane.

Pure Python (NumPy allowed). It knows nothing of Django, reads no wall clock and draws no global randomness: one scenario and one
seed give the same trace bytes on any machine.
"""

ENGINE_VERSION = "0.1.0"
"""Version of the behaviour modelled. It is written into the first record of each trace."""
