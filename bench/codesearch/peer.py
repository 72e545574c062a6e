"""Asks a public engine the questions of the benchmark, for comparison.

    go run ./bench/codesearch -questions=questions.tsv CORPUS=DIR …
    pip install semble==0.7.0
    python bench/codesearch/peer.py questions.tsv "semble, BM25 and ranking.tsv" CORPUS=DIR …
    go run ./bench/codesearch -short "-results=semble, BM25 and ranking.tsv" CORPUS=DIR …

semble combines BM25 with vectors of words and orders what both find by definitions, paths
and files. Its vectors are not asked here: alpha is 0, which its own evaluation calls BM25
with ranking. The model that it wants is replaced by one of two random words.
"""

import sys
from pathlib import Path

import numpy
from model2vec import StaticModel
from semble.index.create import create_index_from_path
from semble.search import search
from semble.types import ContentType
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

RESULTS = 20  # of which the benchmark takes the first ten that are not in its own folder


def main(questions, answers, *corpora):
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    model = StaticModel(vectors=numpy.random.rand(2, 4).astype(numpy.float32), tokenizer=tokenizer)
    asked = [line.split("\t") for line in Path(questions).read_text(encoding="utf-8").splitlines()]
    with open(answers, "w", encoding="utf-8") as out:
        for corpus in corpora:
            name, _, folder = corpus.partition("=")
            root = Path(folder).resolve()
            words, vectors, chunks, _ = create_index_from_path(root, model, ContentType.CODE, display_root=root)
            for query in (query for of, query in asked if of == name):
                for found in search(query, model, vectors, words, chunks, RESULTS, alpha=0.0):
                    place = found.chunk
                    print(name, query, place.file_path, place.start_line, place.end_line, sep="\t", file=out)


main(*sys.argv[1:])
