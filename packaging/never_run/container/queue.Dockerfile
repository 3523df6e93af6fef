# This image has the example examples/pages/queue.py, a Python application with metric pages. After scripts/package.sh:
#     cp examples/pages/queue.py dist && docker build -t pingloom-queue:0.1.0 -f packaging/never_run/container/queue.Dockerfile dist
# On a host with an agent, it runs without --ipc=host, --pid=host and --network=host, because pages are passed as
# descriptors over the socket. `agent` is the group of the socket (stat -c %g /run/pingloom/pages.sock):
#     docker run --user 10000 --group-add "$agent" -v /run/pingloom:/run/pingloom:ro \
#       -e OTEL_RESOURCE_ATTRIBUTES=region=eu pingloom-queue:0.1.0
FROM debian:bookworm-slim
COPY libpingloom-pages0_*.deb python3-pingloom-pages_*.deb /tmp/
RUN apt-get update \
 && apt-get install -y --no-install-recommends /tmp/*.deb \
 && rm -rf /tmp/*.deb /var/lib/apt/lists/*
COPY queue.py /usr/local/bin/
CMD ["python3", "/usr/local/bin/queue.py"]
