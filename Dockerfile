FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 SCHEDSCOPE_MODE=production SCHEDSCOPE_HOST=0.0.0.0
WORKDIR /app
COPY requirements/run.lock requirements/run.lock
RUN pip install --no-cache-dir --require-hashes -r requirements/run.lock
COPY manage.py ./
COPY dashboard dashboard
COPY simulations simulations
COPY templates templates
COPY static static
RUN SCHEDSCOPE_SECRET_KEY=build SCHEDSCOPE_ALLOWED_HOSTS=build python manage.py collectstatic --noinput \
    && useradd --system schedscope
USER schedscope
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "dashboard.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--ws-max-size", "65536", "--timeout-graceful-shutdown", "5", "--lifespan", "off"]
