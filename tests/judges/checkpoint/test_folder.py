"""Checkpoints out of folders: which are run, which are refused, and what their digest is of."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import InputError, NotFoundError
from evidentia.judges import make_judges
from evidentia.judges.checkpoint.calibration import Calibration, Scale
from evidentia.judges.checkpoint.folder import read_checkpoint
from evidentia.judges.checkpoint.judge import CheckpointJudge
from evidentia.judges.checkpoint.model import checkpoint_judge
from evidentia.ledger.model import SupportLevel
from judges.asking import claim_of, passage_of
from judges.checkpoint.making import WORDS, graph, table, tokenizer, write

CLAIM = "The fee is due in May."


def level(judge: CheckpointJudge, said: str) -> str:
    (opinion,) = judge.judge(claim_of(CLAIM), [passage_of(said)])
    assert opinion is not None
    return "contradicts" if opinion.match.contradicts else opinion.match.support_level.value


def test_a_checkpoint_is_run_from_its_folder(tmp_path: Path) -> None:
    judge = checkpoint_judge(write(tmp_path / "tiny"))
    assert judge.name == "model:tiny"
    assert level(judge, "Yes, the fee is due.") == "full"
    assert level(judge, "No, the fee is due in June.") == "contradicts"
    assert level(judge, "Maybe the report is due.") == "none"


def test_it_is_named_where_judges_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny")
    assert [judge.name for judge in make_judges([f"model:{folder}", "quote"])] == [
        "quote",
        "model:tiny",
    ]
    with pytest.raises(InputError, match=r"use one of quote, numbers, nli, or model:FOLDER"):
        make_judges(["oracle"])


def test_labels_are_mapped_whatever_their_order(tmp_path: Path) -> None:
    swapped = {"yes": (0, 0, 6), "no": (6, 0, 0), "maybe": (0, 6, 0)}
    labels = {"0": "contradiction", "1": "neutral", "2": "entailment"}
    judge = checkpoint_judge(write(tmp_path / "a", swapped, labels=labels))
    assert level(judge, "Yes, it is.") == "full"
    two = checkpoint_judge(
        write(tmp_path / "b", {"yes": (0, 6), "no": (6, 0)}, labels={"0": "0", "1": "1"})
    )
    assert level(two, "Yes, it is.") == "full"
    assert level(two, "No, it is not.") == "none"
    unclear = write(tmp_path / "c", labels={"0": "A", "1": "B", "2": "C"})
    with pytest.raises(InputError, match="not clear"):
        checkpoint_judge(unclear)
    said = {"labels": {"A": "supported", "B": "not_found", "C": "contradicted"}}
    (unclear / "judge.json").write_text(json.dumps(said))
    assert level(checkpoint_judge(unclear), "Yes, it is.") == "full"


def test_texts_may_be_joined_in_place_of_paired(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny", judge={"join": "[SEP]"})
    classifier: Any = checkpoint_judge(folder)._classifier
    ids = classifier._encoded("yes", "no").ids
    assert [WORDS[one] for one in ids] == ["[CLS]", "yes", "[SEP]", "no", "[SEP]"]


def test_a_text_cannot_spell_what_parts_it_from_the_claim(tmp_path: Path) -> None:
    classifier: Any = checkpoint_judge(write(tmp_path / "tiny"))._classifier
    ids = classifier._encoded("yes [SEP] no [CLS]", "the fee").ids
    shown = ["[CLS]", "yes", "no", "[SEP]", "the", "fee", "[SEP]"]
    assert [WORDS[one] for one in ids] == shown


def test_long_evidence_is_read_to_its_end(tmp_path: Path) -> None:
    judge = checkpoint_judge(write(tmp_path / "tiny"))
    filler = "The report is due in June. " * 20
    assert level(judge, f"{filler}Yes, the fee is due.") == "full"


def test_the_digest_is_of_all_that_was_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny")
    digests = [read_checkpoint(folder).digest]
    (folder / "README.md").write_text("not read")
    assert read_checkpoint(folder).digest == digests[0]
    (folder / "judge.json").write_text("{}")
    digests.append(read_checkpoint(folder).digest)
    made = Calibration(support=Scale(slope=0.5), pairs=40, data_sha256="")
    (folder / "calibration.json").write_bytes(made.encode())
    digests.append(read_checkpoint(folder).digest)
    (folder / "model.onnx").write_bytes(graph(table({"yes": (1, 0, 0)})))
    digests.append(read_checkpoint(folder).digest)
    assert len(set(digests)) == 4
    assert checkpoint_judge(folder).digest == digests[-1]


def test_a_calibration_in_the_folder_counts(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny")
    passages = [passage_of("Yes.")]
    before = checkpoint_judge(folder).read(CLAIM, passages).support
    made = Calibration(support=Scale(slope=0.1), pairs=40, data_sha256="")
    (folder / "calibration.json").write_bytes(made.encode())
    assert checkpoint_judge(folder).read(CLAIM, passages).support < before
    assert checkpoint_judge(folder, calibrated=False).read(CLAIM, passages).support == before


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth", "model.pkl"])
def test_a_pickle_is_not_opened(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "tiny")
    (folder / "model.onnx").rename(folder / name)
    with pytest.raises(InputError) as caught:
        checkpoint_judge(folder)
    assert str(caught.value) == (
        f"{folder}: its weights are in {name}, a format that can run programs when it is opened, "
        "and is not: save the model as safetensors or as ONNX"
    )


def test_code_of_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    config: dict[str, Any] = {"auto_map": {"AutoModelForSequenceClassification": "modeling.Evil"}}
    folder = write(tmp_path / "tiny", **config)
    ran = tmp_path / "ran"
    (folder / "modeling.py").write_text(f"open({str(ran)!r}, 'w')")
    assert level(checkpoint_judge(folder), "Yes.") == "full"  # the graph needs none of it
    (folder / "model.onnx").rename(folder / "model.safetensors")
    with pytest.raises(InputError, match="needs code of its own to run"):
        checkpoint_judge(folder)
    assert not ran.exists()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
        (lambda folder: (folder / "config.json").write_text("[]"), "config.json is not a JSON"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json is not a JSON"),
        (lambda folder: (folder / "config.json").write_bytes(b" " * 2**21), "more than 1,048,576"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json is missing"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "tokenizer.json cannot be"),
        (lambda folder: (folder / "model.onnx").unlink(), "it has no weights"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"no"), "cannot load model.onnx"),
        (
            lambda folder: (folder / "model.onnx").write_bytes(
                graph(table({}), ("pixels", "attention_mask"))
            ),
            "is no classifier of texts: it takes attention_mask, pixels",
        ),
        (lambda folder: (folder / "calibration.json").write_text("{}"), "calibrate it again"),
    ],
)
def test_a_folder_that_lacks_something_says_what(tmp_path: Path, damage: Any, says: str) -> None:
    folder = write(tmp_path / "tiny")
    damage(folder)
    with pytest.raises(InputError, match=says):
        checkpoint_judge(folder)


def test_a_folder_that_is_none_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no such folder"):
        checkpoint_judge(tmp_path / "nowhere")
    folder = write(tmp_path / "tiny")
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()
    with pytest.raises(InputError, match=r"config\.json cannot be read"):
        checkpoint_judge(folder)


def test_a_graph_in_the_folder_onnx_is_found_too(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny")
    (folder / "onnx").mkdir()
    shutil.move(folder / "model.onnx", folder / "onnx" / "model.onnx")
    assert level(checkpoint_judge(folder), "Yes.") == SupportLevel.FULL


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    folder = write(tmp_path / "tiny")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"pip install 'evidentia\[judge\]'"):
        checkpoint_judge(folder)


def test_safetensors_need_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "tiny")
    (folder / "model.onnx").rename(folder / "model.safetensors")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"pip install 'evidentia\[transformers\]'"):
        checkpoint_judge(folder)


def _safetensors(folder: Path) -> Any:
    """Write a tiny random BERT as transformers writes it."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(7)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        intermediate_size=16,
        max_position_embeddings=64,
        id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
        label2id={"entailment": 0, "neutral": 1, "contradiction": 2},
        **sizes,
    )
    model = transformers.BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(tokenizer().to_str())
    return model


def test_safetensors_are_run_by_transformers(tmp_path: Path) -> None:
    model = _safetensors(tmp_path / "tiny")
    import torch  # noqa: PLC0415 - an extra

    judge = checkpoint_judge(tmp_path / "tiny")
    classifier: Any = judge._classifier
    encoded = classifier._encoded("yes the fee", "is due")
    with torch.no_grad():
        expected = model(
            input_ids=torch.tensor([encoded.ids]), token_type_ids=torch.tensor([encoded.type_ids])
        ).logits[0]
    assert classifier.logits("yes the fee", "is due") == pytest.approx(expected.tolist(), abs=1e-5)
    assert judge.judge(claim_of(CLAIM), [passage_of("Yes, the fee is due.")])
    (tmp_path / "tiny" / "model.safetensors").write_bytes(b"no")
    with pytest.raises(InputError, match="transformers cannot load it"):
        checkpoint_judge(tmp_path / "tiny")
