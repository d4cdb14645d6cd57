"""Serves one GGUF model with llama.cpp's own HTTP server, as the package xllamacpp carries it, until it is killed.

Usage: python3 serve.py SETTINGS, a JSON object:
  model     path of the GGUF file
  alias     id under which /v1/models lists it
  port      on 127.0.0.1; 0 takes a free one
  slots     requests served at once
  slot_ctx  tokens of window for each of them
  threads   for computing
  template  path of a chat template that replaces the model's own; "" keeps it
  api_key   bearer that requests must bring; "" asks for none
Prints one line, {"url": ...}, when the model is loaded. The server listens, and answers 503, from before that.
"""

import json
import os
import sys
import threading

# Threads that wait for each other are to sleep: spinning ones crawl as soon as the processor has other work.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import xllamacpp  # noqa: E402

settings = json.loads(sys.argv[1])
params = xllamacpp.CommonParams()
params.model.path = settings["model"]
params.model_alias = {settings["alias"]}
params.hostnames = ["127.0.0.1"]
params.port = settings["port"]
params.n_parallel = settings["slots"]
params.n_ctx = settings["slots"] * settings["slot_ctx"]
params.cpuparams.n_threads = settings["threads"]
params.cpuparams_batch.n_threads = settings["threads"]
# A long prompt is reported on once a batch.
params.n_batch = 512
params.use_jinja = True
params.endpoint_slots = True
params.offline = True
params.ui = False
# Prompts are kept for reuse: 8 GiB of them unless told otherwise.
params.cache_ram_mib = 512
if settings["template"]:
    with open(settings["template"], encoding="utf-8") as file:
        params.chat_template = file.read()
if settings["api_key"]:
    params.api_keys = [settings["api_key"]]

server = xllamacpp.Server(params)
print(json.dumps({"url": server.listening_address}), flush=True)
threading.Event().wait()
