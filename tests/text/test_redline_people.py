"""Sentences of school life: what is said about people is found whoever they are, and lessons stay as they are."""

import pytest

from chat.text.redlines import find

ABOUT_PEOPLE = {
    "score": (
        "古丽娜尔这次只考了三十九分。",
        "学生甲得了 66 分，学生乙得了 72 分。",
        "周明的生物成绩是 67 分。",
        "四班的物理平均分为 66.2。",
        "二班有七个学生数学低于 30 分。",
        "月考结果，毕然 88，史杰 76。",
        "孙浩物理满分！",
        "Results: Nina 78, Omar 64, Paul 91.",
        "She dropped from an A to a C in biology.",
        "这回单元测验，周涛又是满分。",
        "李明:78 王红:91 赵刚:66",
        "黄亮期中语数外三门加起来 251。",
        "全班有 7 个人没及格。",
        "Only 12 of my students passed the test.",
    ),
    "rank": (
        "卓玛年级一百八十七名。",
        "舒畅还是老样子，班级垫底。",
        "他全校排第 77。",
        "Ian rose thirty places in the year ranking.",
        "他从中游滑到了班里末尾。",
    ),
    "health": (
        "学生甲患有哮喘",
        "柏松对头孢过敏。",
        "我孕 28 周了，下月开始休假。",
        "上官云视力很差，左眼失明。",
        "My student Tom is dyslexic.",
        "班上有一名听障生。",
        "She broke her wrist in PE and wears a cast.",
    ),
    "family": ("他妈因诈骗坐了牢。", "小雨家是贫困户，学费减免。", "我是单亲妈妈。", "The boy lives with foster parents."),
    "address": (
        "司徒家住在北大街 44 号。",
        "我住 9 号楼 2 单元 603，快递放门口。",
        "My flat is number 21 on Castle Street.",
        "学生王芳住在东湖村 5 组。",
    ),
    "contact": ("企鹅号 88776655 加一下家长。", "Zoe's Instagram is zoe.art_2011.", "家长群二维码失效，加 V：mama_520。"),
    "phone": ("My cell: +1 415-555-0132",),
    "id_doc": ("Passport no. E12345678 belongs to the exchange student.",),
}
ABOUT_LESSONS = (
    "每题5分，共100分",
    "常用教室305",
    "喜欢先讲例题",
    "教材第110页",
    "把 24 名学生平均分成 4 组。",
    "数学必修一第二章的小测，25 分钟。",
    "我教高二物理，两个班，共 96 人。",
    "每份试卷 22 题，满分 150 分。",
    "作业批改用等级制。",
    "第三名同学上黑板演示。",
    "讲解《皮肤的功能》一课。",
    "近视防控宣传周的活动方案。",
    "我喜欢在课上讲医学小故事。",
    "讨论贫困问题的原因。",
    "考点设在第一中学 2 号教学楼。",
    "Number 10 Downing Street is the home of the prime minister.",
    "In Jane Eyre the heroine is an orphan.",
    "A quiz on vitamins and minerals.",
    "The average temperature in July is 31 degrees.",
    "I teach two classes of Year 8 science.",
    "阅读理解：Tom got up at 7 and had breakfast.",
    "把“他考了第一名”改成被动句。",
    "讨论题：单亲家庭的孩子更独立吗？",
)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in ABOUT_PEOPLE.items() for text in texts])
def test_what_is_said_about_people_is_found(kind, text):
    assert kind in {hit.kind for hit in find(text)}


@pytest.mark.parametrize("text", ABOUT_LESSONS)
def test_lessons_and_wishes_are_left_alone(text):
    assert find(text) == []
