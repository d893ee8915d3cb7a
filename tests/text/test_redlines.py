"""What memory may not keep about people, and what it may."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.text.redlines import find, head_of, redact
from tests.conftest import shared_folder

SENSITIVE = {
    "id_card": [
        "小华的身份证是１１０１０１１９０００３０７００１０",
        "身份证：110101 19000307 0010",
        "证件号一一零一零一一九零零零三零七零零一零",
        "1101\u200b01190003070010",
    ],
    "id_doc": ["护照 E12345678 快到期了", "准考证号：20250607001"],
    "phone": [
        "小李爸爸的手机是一三八零零零零零零零零",
        "联系家长：138 0000 0000",
        "妈妈电话1 3 9 0 0 0 0 0 0 0 0",
        "Reach his dad at +86 13900000002.",
    ],
    "bank_card": ["把钱转到6222-0200-0000-0000-000", "新的是 4111 1111 1111 1111"],
    "score": [
        *(
            "刘洋这次数学只考了四十五分",
            "赵敏同学英语拿了 38 分，家长很着急",
            "班上最高分 98，最低分 21",
            "欧阳娜娜化学 65 分",
            "他的成绩单：语文 70、数学 66",
        ),
        *(
            "四班平均分 71.3，优秀率 20%",
            "Mary got a B- in chemistry.",
            "Peter only scored 31 on the final.",
            "Ben failed the history exam.",
            "周杰数学才 40 分",
        ),
    ],
    "health": [
        *(
            "刘洋有先天性心脏病，不能剧烈运动",
            "赵敏最近在看心理医生",
            "小强骨折了，请假两周",
            "我最近失眠很严重，在吃药",
            "Peter suffers from migraines.",
            "Our student Ben has diabetes.",
        ),
        "老师准备了糖尿病的教案，何静对牛奶过敏",
    ],
    "rank": [
        "刘洋年级第 200 名",
        "赵敏考了全班倒数第三",
        "小强退步了三十名",
        "Mary is 5th in her class.",
        "沈浩然这次掉到班里四十多名",
        "Kevin is at the bottom of the class.",
    ],
    "address": ["刘洋家住南京路 88 号", "小强住在翠苑小区 5 栋 301", "Peter lives at 22 Oak Avenue."],
    "family": [
        "刘洋父母离婚了",
        "小强家里很贫困",
        "Peter's dad is in jail.",
        "孩子跟着爷爷奶奶生活",
        "Grace comes from a single-parent home.",
    ],
    "contact": ["刘洋妈妈微信 liuyang_mama88", "QQ号：23456789", "write to peter.mum@mail.example"],
}
BENIGN = [
    *(
        "出一套满分 120 分的语文试卷",
        "作文 60 分，阅读 30 分，基础 30 分",
        "高中数学期末试卷，选择题 12 道每道 5 分",
        "简答题换两道",
        "把第 2 题改成 10 分",
        "答案：1. A 2. B 3. C",
    ),
    *(
        "用户要求出一份数据结构试卷，满分 100 分，包含选择题 20 道、简答题 3 道。",
        "我教 11 年级，每周 5 节课",
        "数学 3 班的课表",
        "时间复杂度从 O(n^2) 降到 O(n)",
        "一道 12 分的数学大题",
    ),
    *(
        "老师要求把试卷难度降低，他希望平均分在 75 左右",
        "He wants 20 multiple choice questions worth 2 points each.",
        "The paper has a total of 100 points.",
        "小组合作评分表，每项 5 分",
    ),
    *(
        "讲一讲哮喘的发病机制",
        "我想上一节关于艾滋病预防的课",
        "我们班要开心理健康班会",
        "Design a quiz about diabetes and insulin.",
        "I want to teach a lesson on epilepsy awareness.",
    ),
    *(
        "讲解二叉树的父节点与孩子节点",
        "离婚率统计图怎么画",
        "写一封给家长的信",
        "3 号楼 2 单元的电路图",
        "把会议改到 502 室",
        "邮箱格式校验的正则表达式",
        "微信小程序开发课",
    ),
    *(
        "2024 年 11 月 30 日 12:30",
        "数组 [1, 3, 5, 7, 9, 11, 13, 15, 17]",
        "1 3 5 7 9 11 13 15 17 19",
        "3.1415926535897932384626",
        "2^40 = 1099511627776",
        "版本号 1.3.8000.0000",
    ),
    *(
        "生成 18 位随机数 987654321098765432",
        "学生编号 2024010001 至 2024010045",
        "世界杯第 3 名是哪支球队",
        "前 10 名先发言",
        "冒泡排序每轮把最大值排到最后",
    ),
]


def corpus():
    folder = shared_folder()
    path = folder / "specs" / "redlines.jsonl" if folder else None
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path and path.is_file() else []


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SENSITIVE.items() for text in texts])
def test_sensitive_text_is_found(kind, text):
    assert kind in {hit.kind for hit in find(text)}


@pytest.mark.parametrize("text", BENIGN)
def test_ordinary_text_is_left_alone(text):
    assert redact(text) == text


def test_corpus_is_stopped_and_the_benign_passes():
    rows = corpus()
    if not rows:
        pytest.skip("needs the corpus of red lines (SHARED_DIR)")
    sensitive = [bool(find(row["text"])) for row in rows if row["sensitive"]]
    benign = [bool(find(row["text"])) for row in rows if not row["sensitive"]]
    assert sum(sensitive) / len(sensitive) >= 0.95
    assert sum(benign) / len(benign) <= 0.02


def test_places_are_those_of_the_original():
    text = "好。\u200b身份证 １１０１０１ 19000307\u200b0010，请保存"
    (hit,) = find(text)
    assert text[hit.start : hit.end] == "１１０１０１ 19000307\u200b0010"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("出了一份数据结构试卷，小明数学考了58分，希望简答题换两道。", "出了一份数据结构试卷，(涉及学生成绩，略)，希望简答题换两道。"),
        ("李雷语文 92，数学 76，英语 88。其余照旧。", "(涉及学生成绩，略)。其余照旧。"),
        ("电话 13800000000，下周复习树。", "电话 (涉及联系方式，略)，下周复习树。"),
        ("卡号 6222020000000000000 已更新", "卡号 (涉及银行卡号，略) 已更新"),
        ("身份证 110101190003070010。", "身份证 (涉及身份证件，略)。"),
        ("小强有哮喘。明天照常上课。", "(涉及健康状况，略)。明天照常上课。"),
    ],
)
def test_placeholder_takes_the_place_of_the_clause_or_the_number(text, expected):
    assert redact(text) == expected


@pytest.mark.parametrize("text", [text for texts in SENSITIVE.values() for text in texts])
def test_nothing_sensitive_is_left(text):
    assert find(redact(text)) == []


@pytest.mark.parametrize("number", ["110101190013070010", "990101190003070010", "110101190003070011"])
def test_number_that_cannot_be_an_id_is_none(number):
    assert find(f"投影仪序列号 {number}") == []


SAMPLES = [text for texts in SENSITIVE.values() for text in texts] + BENIGN


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*SAMPLES, "，", "。", "\n", " "]), max_size=6).map("".join))
def test_hits_are_ordered_and_inside_the_text(text):
    hits = find(text)
    assert all(0 <= hit.start < hit.end <= len(text) for hit in hits)
    assert hits == sorted(hits, key=lambda hit: (hit.start, hit.end))
    assert len(redact(text)) <= 12 * len(text) + 12


@pytest.mark.parametrize(
    "unit", ["1", "1 ", " ", "小明1分，", "小明1分。", "a@a.", "李雷 ", "护照 ", "数学 1", "家路1", "He got a ", "1,", "a\u200b"]
)
@pytest.mark.timeout(60)  # quadratic work on this text takes minutes
def test_hostile_text_takes_linear_time(unit):
    text = unit * (30_000 // len(unit))
    find(text)


@pytest.mark.parametrize("between", ["，", " ", "、", "\n", "", "和", "; ", "/"])
@pytest.mark.parametrize("number", ["13812345678", "138 1234 5678", "一三八一二三四五六七八", "110101199003078515", "amy.mum@mail.example"])
def test_a_beginning_ends_in_no_half_number(between, number):
    text = f"家长电话 {number}{between}" * 400
    for most_chars in range(1_000, 1_040):
        head = head_of(text, most_chars)
        assert len(head) <= most_chars
        assert head.count("家长电话") - head.count(number) in (0, 1)
        assert head.rpartition("家长电话")[2].strip(f" {between}") in ("", number)


def test_a_text_that_fits_is_looked_through_whole():
    assert head_of("电话 138", 6) == "电话 138"
    assert len(head_of("7" * 5_000, 1_000)) >= 900


def test_where_two_rules_find_the_same_place_the_same_one_is_named_each_time():
    code = "from chat.text.redlines import find; print([hit.rule for hit in find('家长手机13812345678')])"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": str(seed)}, check=True, capture_output=True, text=True
        ).stdout
        for seed in range(6)
    }
    assert said == {"['mobile number']\n"}
