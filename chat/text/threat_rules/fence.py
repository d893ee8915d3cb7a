"""Threat rules: what imitates the structure of a prompt."""

from typing import Final

from chat.text.threat_rules.base import whole

_SPEAKER = r"(?:system|assistant|user|human|developer|tool|function|sys|admin|系统|助手|用户|开发者|管理员)"
_KIND = (
    r"(?:prompt|messages?|notes?|notice|instructions?|override|update|reminder|warning|command|directive|alert|admin|"
    r"admin message|mode|policy|提示词?|消息|指令|通知|设定|公告|命令|管理员|信息|警告|更新)"
)
_ORDERLY = (
    r"(?:以下|以上|忽略|无视|你|从现在|请|指令|规则|关闭|权限|执行|安全|限制|模式|必须|导出|删除|解除|授权|服从|助手|立即|"
    r"优先|禁用|取消|不再|开放|新任务|把|将|命令|记忆|密码|"
    r"(?<![a-z])(?:ignore|obey|you|your|above|below|follow|rules?|instructions?|execute|safety|off|access|must|delete|"
    r"export|grant\w*|disable\w*|enable\w*|mode|from now|override|new|permission\w*|now|print|reveal|send|test|unlock\w*|"
    r"limits?|restrictions?|filters?|all)(?![a-z]))"
)
_ANSWERS = (
    r"(?:好的|好,|我|已|可以|收到|遵命|没问题|明白|是的|当然|没有问题|完成|sure|done|ok|okay|i |i'|yes|of course|certainly|"
    r"understood|no problem|absolutely|got it|here|all|access|granted|alright|right away|as you|will do)"
)
_LINE = r"^[ \t>#*_~`|+=\-•]{0,20}"

RULES: Final = (
    whole(
        "fence_breakout",
        "a tag of the prompt",
        r"</?\s{0,2}(?:memory|memories|system|system[_-](?:prompt|reminder|message|note|instructions?)|assistant|instructions?|"
        r"tool[_-]\w{1,20}|function[_-]\w{1,20}|untrusted\w{0,20}|user[_-](?:input|query|message|profile|request)|"
        r"memory[_-]\w{1,20}|retrieved\w{0,20}|recalled\w{0,20}|reference[_-]?\w{0,20}|developer|human|im_start|im_end|"
        r"notes?[_-]\w{1,20}|chat[_-]?history|conversation[_-]?\w{0,12}|context[_-]?\w{0,12}|prompt|system提示|系统|系统提示|"
        r"记忆|资料|前情|历史记录|历史|上下文|对话|背景|指令|规则|聊天记录|参考资料|用户|助手|提示词|系统消息|start_of_turn|end_of_turn|bos|eos|admin|override|inst|sys|thinking|think|"
        r"antml:\w{1,20})(?:\s[^<>\n]{0,80})?/?>",
    ),
    whole(
        "fence_breakout",
        "an end of what stands around",
        r"</(?:user|context|conversation|history|notes?|document|documents|knowledge|recall|message|query|reference|references|"
        r"profile|core|chat|turn|round|facts?|search_results?|results)>",
    ),
    whole(
        "fence_breakout",
        "a token of a chat template",
        r"<\|[^|<>\n]{1,40}\|>|\[/?inst\]|<<\s{0,2}/?sys\s{0,2}>>|</?s>(?!\w)|\[/?(?:sys|system_prompt|available_tools|"
        r"tool_calls|tool_results)\]|\[/(?:system|assistant|user|memory|context|history|notes|prompt|instructions?)\]|^#{2,4}\s{0,3}(?:instruction|response|system|human|assistant|user|input|指令|系统|回答|"
        r"助手)s?\s{0,2}:|\{\{(?:[#/](?:system|user|assistant)\b|(?:system|assistant)~?\}\}|user~)|<\|(?:im_)?(?:start|end|"
        r"system|eot)",
    ),
    whole(
        "fence_breakout",
        "a speaker in brackets",
        rf"\[\s{{0,2}}(?:{_SPEAKER}|root|priority|important|urgent|internal|hidden|admin|安全|最高|内部|隐藏|"
        rf"重要)[\s_-]{{0,2}}(?:{_KIND}|{_SPEAKER})(?:[\s_:-][^\]\n]{{0,60}})?\]|\[\s{{0,2}}(?:system|系统|assistant|助手|"
        rf"developer|开发者|admin|管理员|sys)\s{{0,2}}(?:[:\-][^\]\n]{{0,80}})?\]",
        unless=r"\](?:一词|这个词|二字)",
    ),
    whole(
        "fence_breakout",
        "a role at the beginning of a line",
        rf"{_LINE}(?:system|系统|developer|开发者|admin(?:istrator)?|管理员|sysadmin|"
        rf"root)[*_~` ]{{0,6}}:(?=[^\n]{{0,60}}{_ORDERLY})",
        unless=r"(?:系统|system):.{0,20}(?:由|组成|整体|指的是|a set of|consists)",
    ),
    whole(
        "fence_breakout",
        "a message of the system",
        rf"{_LINE}[(<\"]?(?:系统(?:提示词?|消息|指令|通知|命令|公告|更新|警告|信息)|开发者(?:消息|指令|提示|模式)|管理员(?:消息|"
        rf"指令|通知|命令)|system[ _-]{{0,2}}(?:{_KIND})|developer[ _-]{{0,2}}(?:message|prompt|instructions?|note|mode)|"
        rf"admin(?:istrator)?[ _-]{{0,2}}(?:message|note|override|command|instructions?|notice)|新(?:的)?(?:系统)?指令|"
        rf"new (?:system )?instructions?|important (?:system )?instructions?)[*_~` )>]{{0,6}}(?::|$)",
    ),
    whole(
        "fence_breakout",
        "the assistant's line",
        rf"{_LINE}(?:assistant|助手|ai|模型|助理|bot|model|gpt|claude)[*_~` ]{{0,6}}:\s{{0,4}}(?={_ANSWERS})",
        unless=r"dialogue practice|对话练习|课文|role-?play",
    ),
    whole(
        "fence_breakout",
        "the user's line with an order",
        rf"{_LINE}(?:user|用户|human)[*_~` ]{{0,6}}:(?=[^\n]{{0,40}}(?:删除|导出|忽略|执行|发送|告诉|清空|关闭|给我|显示|delete|"
        r"export|ignore|execute|send|show|print|remove|confirm))",
        unless=r"dialogue practice|对话练习|课文|role-?play",
    ),
    whole("fence_breakout", "a speaker in angles", r"<(?:用户|助手|系统|user|assistant|system)>\s{0,3}\S"),
    whole(
        "fence_breakout",
        "our own boundary",
        r"\[\s{0,2}(?:本会话前情|核心记忆|相关历史|知识库检索结果|上次产物|用户问题|轮次原文|会话前情|历史记录|对话历史|前情|"
        r"参考资料|记忆|笔记|资料)\s{0,2}(?:结束|开始|到此为止|完毕|终了|-|—|–)|以下是用户本轮的真实请求|"
        r"^\s{0,4}\((?:此前对话摘要|最近对话)\)|^\[(?:begin|end|start)\s{1,2}of\s{1,2}(?:the\s{1,2})?(?:untrusted\s)?(?:memory|"
        r"context|history|conversation|document|data|notes|retrieved|reference|system|prompt|recall|knowledge)",
    ),
    whole(
        "fence_breakout",
        "the history is over",
        r"(?:历史(?:记录|对话|消息)?|前情|参考资料|记忆(?:内容|部分|区)?|以上(?:资料|内容|记忆|背景)|上下文|资料|引用|"
        r"不可信内容|背景(?:资料|信息)?|检索结果|文档(?:内容)?)(?:,)?(?:到此|至此|已经?|在此|就此)?(?:结束|完毕|终止|"
        r"为止)[,。;: \])—-]{0,4}[^\n]{0,8}\n?[^\n]{0,4}(?:以下|下面|现在|接下来|真正|用户|系统|请|新)",
    ),
    whole(
        "fence_breakout",
        "the history is over, in English",
        r"(?:^|[-=*#\[(<.] {0,3})(?:end(?:s)?(?: here)?|end) of (?:the )?(?:history|context|memory|memories|notes|conversation|"
        r"reference|retrieved|untrusted|data|document|background|prompt|system prompt|user input|transcript|recall|records|"
        r"material)[^\n]{0,40}(?:\n|[.:;,\])>=*-])[^\n]{0,20}(?:user|system|assistant|human|now|the (?:real|actual|user)|new|"
        r"real|actual|here|begin|follow|obey|ignore|instruction|your)",
    ),
    whole(
        "fence_breakout",
        "now the real request",
        r"(?:真正|真实|实际)(?:的)?(?:用户)?(?:请求|指令|任务|问题|命令|需求)(?:如下|是|:|为|开始|在下面|从这里)|(?:以下|"
        r"下面)(?:才)?(?:是|为)(?:真正|真实|新|系统|用户|开发者|管理员|最新)(?:的)?(?:用户)?(?:请求|指令|任务|消息|命令|输入)|"
        r"(?:the )?(?:real|actual|true|genuine) (?:user )?(?:request|instruction|task|prompt|query|message|command)s? (?:is|are|"
        r"follows?|begins?|starts?|below|:)|(?:above|foregoing|text above|everything above|previous text) was (?:only |"
        r"just )?(?:a test|an example|a drill|sample|untrusted|dummy|filler)",
    ),
    whole("fence_breakout", "a line of rules", r"^[ \t]*§[ \t]*$"),
    whole(
        "fence_breakout",
        "a placeholder of blocked text",
        r"^[\s>*-]{0,4}[\[(<]\s{0,2}(?:已屏蔽|已拦截|已阻止|屏蔽|blocked|redacted by|removed by system|filtered)(?![a-z])",
    ),
    whole(
        "fence_breakout",
        "a heading of the notes",
        r"═{20,}|^[-=*#~_<]{2,12}\s{0,3}(?:begin |start |end |end of |start of )?(?:of )?(?:the )?(?:new |real |hidden |admin |"
        r"developer |actual )?(?:system|admin|developer|assistant|user|human)?\s{0,2}(?:prompt|system|system (?:prompt|message)|"
        r"instructions?|user (?:input|query)|memory|context|history|conversation|系统提示|系统指令|系统|指令|用户输入|上下文|"
        r"记忆区?)(?:结束|开始)?\s{0,3}[-=*#~_>]{2,12}$|^(?:user profile|memory)\s{0,2}[((](?:用户画像|我的笔记|"
        r"your personal notes|who the user is)|```\s{0,2}(?:system|assistant|instructions?|prompt)\s{0,2}$",
    ),
    whole(
        "fence_breakout",
        "a message as data",
        r"[\"'](?:role)[\"']\s{0,3}:\s{0,3}[\"'](?:system|assistant|developer|user|tool)[\"']|^(?:role|"
        r"角色)\s{0,2}[:=]\s{0,2}(?:system|developer|系统)\b[^\n]{0,20}\n",
    ),
)
