"""What counts as a claim to have saved something, and what does not."""

import pytest

from chat.text.claims import claims_saved

CLAIMS = [
    "已记住：这个项目的文档任务用反向工作流。",
    "好的，已经记住了。",
    "好的，记住了！以后都按这个来。",
    "记下了。",
    "我记下来了，以后出题都附评分标准。",
    "我已经把这一点记下来。",
    "已为你保存。",
    "这条偏好我已经保存好了。",
    "没问题，已帮你记录：先例题后练习。",
    "我会记住你喜欢表格。",
    "好的，我以后会记得先给例题。",
    "已将这条写入 MEMORY.md。",
    "我已经把它加到你的笔记里。",
    "已更新笔记：v0.148。",
    "你的笔记已更新。",
    "收到，已存入长期记忆。",
    "**已记住**：高二用人教版。",
    "一、选择题\n1. 栈的特点是（ ）\n\n另外，我已经记住你要附答案。",
    "I've remembered that you teach grade 11.",
    "Sure, I have saved this to your notes.",
    "I'll remember that.",
    "I’ve made a note of it.",
    "Got it. Saved to memory.",
    "Saved.",
    "Your preference has been saved to the notes.",
    "I will keep that in mind for the next paper.",
]
OTHERS = [
    "",
    "一、选择题\n1. 栈的特点是（ ）",
    "请记住公式 F=ma。",
    "学生应当记住的要点如下：",
    "请把文件保存好再提交。",
    "点击“保存”，出现“已保存”的提示后关闭窗口。",
    "```python\nprint('已保存')\n```",
    "运行后显示 `已记住`。",
    "我没有记住这一条，需要时请写“记住：…”。",
    "这条还没保存。",
    "我无法替你记住密码。",
    "你记住了吗？",
    "如果已经记住单词表，就做第二题。",
    "小明记住了三十个单词。",
    "要让学生牢牢记住，可以用口诀。",
    "数据保存在数组里，读写都要加锁。",
    "> 已记住：旧的约定。",
    "日记里要写清时间、地点和人物。",
    "记录实验数据，再画图。",
    "这一部分已经记录在附录里。",
    "这段程序把结果保存为 CSV 文件。",
    "实验数据已经保存到表格，下面画图。",
    "请同学们记好笔记。",
    "我国古代已经记录下哈雷彗星。",
    "Save the file before you close the editor.",
    "Students should remember the formula.",
    "I cannot save this for you.",
    "If I've saved the draft, it is in the folder.",
    "The paper has 20 questions. Note the time limit.",
    "Remember to bring a compass.",
    'He said: "I\'ll remember that."',
    "I have noticed that question 3 is hard.",
]


@pytest.mark.parametrize("text", CLAIMS)
def test_claim_is_seen(text: str):
    assert claims_saved(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_talk_is_no_claim(text: str):
    assert not claims_saved(text)
