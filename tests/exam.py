"""A long paper for tests: about 3,000 tokens, with its 简答题 in the middle."""


def paper() -> str:
    """Headings, numbered questions and answers; every question is different."""
    topics = ["顺序表", "单链表", "循环队列", "二叉树", "哈夫曼树", "图的遍历", "最短路径", "散列表", "快速排序", "归并排序"]
    parts = ["# 数据结构期中试卷", "考试时间 120 分钟，满分 100 分。", "", "## 一、选择题（每题 3 分）"]
    for number, topic in enumerate(topics, 1):
        parts.append(f"{number}. 关于{topic}，下列说法正确的是（　）")
        parts += [f"   {letter}. {topic}的第 {number}{letter} 条性质总是成立，与存储方式无关" for letter in "ABCD"]
    parts += ["", "## 二、填空题（每空 2 分）"]
    parts += [
        f"{number}. 长度为 {number * 7} 的{topic}，平均比较次数是______，最坏情况是______。" for number, topic in enumerate(topics, 1)
    ]
    parts += ["", "## 三、简答题（每题 8 分）"]
    parts += [
        "1. 简述青铜栈与白银队列的三点区别，并各举一个课堂例子。",
        "2. 为什么蓝鲸二叉搜索树在有序插入时会退化？给出一种补救办法。",
        "3. 说明紫藤散列表处理冲突的两种方法，并比较装填因子的影响。",
    ]
    parts += ["", "## 四、算法设计题（每题 15 分）"]
    for number, topic in enumerate(topics, 1):
        parts.append(f"{number}. 给定一个{topic}，设计算法在 O(n) 时间内完成第 {number} 种重排，写出步骤、伪代码并分析空间开销。")
        parts.append(f"   提示：先考虑只有 {number + 2} 个元素的情形，再推广到一般情形；注意边界、重复元素和空输入。")
    parts += ["", "## 五、参考答案"]
    parts += [
        f"选择题第 {number} 题：{'ABCD'[number % 4]}；理由：{topic}的定义如此，见教材第 {number + 20} 页的例子和课后练习。"
        for number, topic in enumerate(topics, 1)
    ]
    return "\n".join(parts)
