"""Uploads over the limit are refused as they come, and cost no memory."""

import http.client
import os
import socket
import subprocess

import pytest

LIMIT_MB = 64


def memory_mb(site) -> float:
    """What the web server holds, in MB."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,rss=,args="], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        _pid, parent, rss, words = line.split(None, 3)
        if int(parent) == site.process.pid and "uvicorn" in words:
            return int(rss) / 1024
    raise AssertionError("no web server")


@pytest.mark.parametrize("path", ["/clusters/import/", "/runs/from-file/", "/api/clusters", "/api/runs/scenario"])
def test_two_hundred_megabytes_are_refused_by_what_their_header_says(embedded, path):
    before = memory_mb(embedded)
    connection = http.client.HTTPConnection("127.0.0.1", embedded.port, timeout=20)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", str(200_000_000))
    connection.putheader("Content-Type", "multipart/form-data; boundary=x")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert b"E0101" in answer.read()
    assert memory_mb(embedded) - before < 20


def test_two_hundred_megabytes_without_a_length_are_refused_at_the_limit(embedded):
    before, sent = memory_mb(embedded), 0
    with socket.create_connection(("127.0.0.1", embedded.port), timeout=30) as plain:
        head = f"POST /clusters/import/ HTTP/1.1\r\nHost: 127.0.0.1:{embedded.port}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        plain.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        piece = os.urandom(1_000_000)
        try:
            while sent < 200:
                plain.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
                sent += 1
        except OSError:
            pass  # the server hung up on us
        try:
            answer = plain.recv(4000)
        except OSError:
            answer = b""
    assert sent < 200 or b" 413 " in answer
    assert b" 413 " in answer or not answer
    assert memory_mb(embedded) - before < 40
    assert b"Schedscope" in embedded.get("/")
