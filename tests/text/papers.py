"""Documents for the tests of this room."""

_TOPICS = ("栈", "队列", "链表", "二叉树", "哈希表", "无向图", "堆", "并查集", "字符串", "稀疏矩阵")
_CHOICES = ("时间复杂度为 O(n)", "空间复杂度为 O(1)", "只能顺序访问", "可以随机访问")


def exam_paper() -> str:
    """An exam paper of about 3,000 tokens with its 简答题 in the middle."""
    lines = ["# 数据结构期末试卷", "", "考试时间：120 分钟　　满分：100 分", "", "## 一、选择题（每题 2 分，共 40 分）", ""]
    for i in range(20):
        topic = _TOPICS[i % 10]
        lines.append(f"{i + 1}. 关于{topic}在第 {i // 10 + 1} 种存储方式下的基本运算，下列说法正确的是（　）。")
        lines += [f"   {letter}. {topic}的查找运算{choice}" for letter, choice in zip("ABCD", _CHOICES, strict=True)]
    lines += ["", "## 二、填空题（每空 1 分，共 15 分）", ""]
    lines += [f"{i + 21}. 长度为 {i + 8} 的{_TOPICS[i]}，最多需要比较 ______ 次，最少需要比较 ______ 次。" for i in range(10)]
    lines += ["", "## 三、简答题（每题 5 分，共 15 分）", ""]
    lines += ["31. 简述快速排序在最坏情况下的时间复杂度，并说明怎样避免。", "32. 比较邻接矩阵与邻接表的优缺点。", "33. 什么是平衡因子？"]
    lines += ["", "## 四、算法设计题（每题 10 分，共 30 分）", ""]
    for i in range(6):
        topic = _TOPICS[i]
        lines.append(f"{i + 34}. 设计一个算法，判断给定的{topic}是否满足第 {i + 1} 条性质，写出思路、代码和复杂度。")
        lines += ["", "```c", f"int check_{i}(struct node *head) {{", "    /* 在此作答 */", "    return 0;", "}", "```", ""]
    lines += ["## 参考答案", ""]
    lines += [f"{i + 1}. {'ABCD'[i % 4]}，因为{_TOPICS[i % 10]}的这种实现需要移动元素。" for i in range(20)]
    return "\n".join([*lines, "", "命题人：李老师　审题人：王老师"])


def section(paper: str, heading: str) -> str:
    """The lines from `heading` up to the next heading of the same rank."""
    start = paper.index(heading)
    return paper[start : paper.index("\n## ", start)]
