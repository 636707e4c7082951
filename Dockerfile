# The service. Build: docker build --tag driftgate .
# The first stage installs driftgate with the versions of constraints.txt; the second holds what was installed, no sources.
# The Python is the one that the tests run on.
FROM python:3.11.14-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/driftgate
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY api ./api
COPY driftgate ./driftgate
COPY examples/bandit ./examples/bandit
COPY gate ./gate
COPY migrations ./migrations
COPY store ./store
RUN /opt/driftgate/bin/python -m pip install --no-cache-dir --disable-pip-version-check --constraint constraints.txt .

FROM python:3.11.14-slim-bookworm
RUN useradd --system --uid 10001 --user-group --no-create-home driftgate
COPY --from=build /opt/driftgate /opt/driftgate
ENV PATH=/opt/driftgate/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# A driftgate.toml mounted here is the service's configuration.
WORKDIR /etc/driftgate
USER 10001:10001
EXPOSE 8321
STOPSIGNAL SIGTERM
# Liveness only: /healthz never asks the database.
HEALTHCHECK --interval=15s --timeout=3s --start-period=15s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8321/healthz', timeout=2)"]
ENTRYPOINT ["driftgate"]
CMD ["serve", "--host", "0.0.0.0"]
