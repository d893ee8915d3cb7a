"""What a teacher has talked about, and what they ask later in new conversations: related and unrelated, in each language."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """An earlier round, and a later question to which it matters. `mark` stands in the earlier answer only."""

    said: str
    answer: str
    mark: str
    asked: str


CHINESE = (
    Topic("出五道二次函数的选择题", "1. 抛物线开口向下时，下列说法正确的是……答案：甲三", "甲三", "上次那份二次函数的题目再加两道难一点的"),
    Topic("帮我写《荷塘月色》的教学目标", "教学目标：体会作者的情感变化，品味通感。编号乙四", "乙四", "《荷塘月色》的教学目标再补一条"),
    Topic("光合作用的暗反应怎么给学生讲", "用工厂流水线打比方，卡尔文循环就是车间丙五。", "丙五", "光合作用的暗反应学生还是听不懂"),
    Topic("设计一节排球垫球课", "热身之后两人一组练习垫球，口令丁六。", "丁六", "排球垫球课的下一课时怎么设计"),
    Topic("家长会发言稿怎么写，重点讲手机管理", "开场问候，然后谈手机管理的约定，附表戊七。", "戊七", "家长会上手机管理那一段能不能再短些"),
    Topic("鸦片战争的材料题出一道", "材料一：林则徐奏折。设问：销烟的意义。卷号己八", "己八", "关于鸦片战争再出一道材料题，换个角度"),
    Topic("化学方程式配平有什么口诀", "一找元素，二数原子，口诀名为庚九。", "庚九", "学生总是配平错化学方程式，怎么巩固"),
)
ENGLISH = (
    Topic(
        "Write a quiz about the French Revolution",
        "1. When was the Bastille stormed? Key: alpha-one",
        "alpha-one",
        "Add two harder questions to the French Revolution quiz",
    ),
    Topic(
        "How do I explain photosynthesis to grade seven?",
        "Use the kitchen analogy from sheet beta-two.",
        "beta-two",
        "Grade seven still does not understand photosynthesis",
    ),
    Topic(
        "Draft a rubric for persuasive essays",
        "Claim, evidence, reasoning, style. Rubric gamma-three.",
        "gamma-three",
        "Shorten the rubric for the persuasive essay please",
    ),
    Topic(
        "Give me a warm-up for fractions with unlike denominators",
        "Pizza slices, card set delta-four.",
        "delta-four",
        "My class still mixes up denominators when adding fractions",
    ),
    Topic(
        "Plan a lesson on volcanoes and plate tectonics",
        "Start with the ring of fire map epsilon-five.",
        "epsilon-five",
        "What homework fits the volcanoes lesson?",
    ),
    Topic(
        "Vocabulary list for Romeo and Juliet act one",
        "feud, mutiny, pilgrim. List zeta-six.",
        "zeta-six",
        "Make a vocabulary test for Romeo and Juliet",
    ),
    Topic(
        "How should I grade late homework fairly?",
        "Ten percent a day, policy eta-seven.",
        "eta-seven",
        "Parents complain about the late homework policy",
    ),
)
MIXED = (
    Topic("Python 列表推导式怎么讲", "用 [x*x for x in range(10)] 举例，讲义一甲。", "讲义一甲", "Python 的列表推导式再举几个例子"),
    Topic("出一份 C++ 指针的练习", "写一段程序，用指针交换两个整数。练习二乙。", "练习二乙", "C++ 指针那份练习的答案给我"),
    Topic(
        "用 Excel 的 VLOOKUP 统计成绩表的步骤", "先排序，再写 VLOOKUP 公式，模板三丙。", "模板三丙", "VLOOKUP 统计成绩表时返回 #N/A 怎么办"
    ),
    Topic("IELTS 口语 Part 2 的话题卡怎么设计", "人物、地点、经历三类，卡片四丁。", "卡片四丁", "再给我几张 IELTS 口语的话题卡"),
    Topic("Scratch 做一个接苹果的游戏", "角色两个，变量一个，工程五戊。", "工程五戊", "Scratch 接苹果游戏里怎么加计时"),
    Topic("GeoGebra 演示圆锥曲线怎么做", "滑动条控制离心率，文件六己。", "文件六己", "GeoGebra 里圆锥曲线的准线怎么画"),
    Topic(
        "Explain 动量守恒 in English for my bilingual class",
        "Two trolleys collide; worksheet 七庚.",
        "worksheet 七庚",
        "动量守恒 的英文练习 worksheet 还有吗",
    ),
)
RELATED = {"zh": CHINESE, "en": ENGLISH, "mixed": MIXED}

UNRELATED = {
    "zh": (
        "今天北京天气怎么样",
        "你好，你是谁",
        "帮我把这句话润色一下：春天来了",
        "从上海到杭州坐高铁要多久",
        "推荐几本适合睡前读的书",
        "西红柿炒鸡蛋先放哪个",
        "办公室的打印机卡纸怎么处理",
        "请帮我想一个班级口号",
    ),
    "en": (
        "What is the capital of Mongolia?",
        "Recommend a good pasta recipe",
        "How do I reset my phone to factory settings?",
        "Tell me a joke about cats",
        "Is it going to rain tomorrow?",
        "Translate good morning into Japanese",
        "Who won the football match last night?",
        "Thank you, that is all",
    ),
    "mixed": (
        "推荐一部 comedy 电影",
        "iPhone 怎么连接 WiFi",
        "帮我写一封 email 给房东",
        "NBA 总决赛是几号",
        "KTV 唱什么歌好",
        "Netflix 上有什么纪录片",
        "GPS 的原理是什么",
        "OK 谢谢",
    ),
}
