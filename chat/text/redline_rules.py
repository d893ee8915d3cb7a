"""What is said about people: the rules of `redlines` for scores, ranks, health, addresses, families and contacts.

A rule finds its `what` in a clause; it counts when the sentence also speaks of somebody (`who`) and nothing in the sentence shows that a
lesson or a paper is meant (`unless`). The patterns run on normalised text (NFKC, nothing invisible, spaces between digits kept).
"""

import re
from dataclasses import dataclass
from typing import Final

N: Final = r"(?:\d{1,6}(?:\.\d{1,4})?|[零一二三四五六七八九十百两]{1,6})"
_COURSES: Final = "语文|数学|英语|外语|物理|化学|生物|历史|地理|政治|道法|思品|科学|体育|音乐|美术|信息|文综|理综"
_COURSE: Final = f"(?:{_COURSES})"
_SUBJECT: Final = f"(?:{_COURSES}|作文|听力|口语|阅读|听写|默写|背诵|月考|测验|模考|计算机|数据结构)"
_SURNAME: Final = (
    "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘"
    "于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付傅方"
    "白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤赖樊欧阳]"
)
_NOT_NAMES: Final = (
    "(?:高考|方法|方差|方程|方式|方面|方案|马上|周[一二三四五六日末期长]|白天|白板|黄河|江南|时间|金属|金额|石油|段落|"
    "程序|程度|任[何务意课教]|钟[头表]|"
    "于是|何[时为种]|余[数弦下]|万[一元以物]|叶[子片]|田径|丁字|向量|向[上下前后]|严[格重禁]|毛笔|史料|武器|范[围例文]|"
    "龙[舟卷]|夏[天季]|石头|贺卡|顾[客虑]|"
    "江[水河]|林[业地]|白色|黄色|金色|张(?:贴|开|纸|图|表|卷)|许[多可]|谢谢|单[元位词]|曾经|任课|史实|秦朝|唐[朝诗代]|"
    "宋[朝词代]|汉语|夏[商]|周[朝围]|严肃|程[式]|孔[子]|孟子)"
)
_NAME: Final = rf"(?!{_NOT_NAMES}){_SURNAME}[\u4e00-\u9fff]{{1,2}}"
_KIN: Final = "(?:爸爸?|妈妈?|父亲|母亲|父母|爷爷|奶奶|外公|外婆|姥姥|姥爷|姑姑|舅舅|叔叔|阿姨|哥哥|姐姐|弟弟|妹妹|监护人|家里人)"
_GROUP: Final = r"(?:[我本全这该][个]?班|[一二三四五六七八九十\d]{1,3}\s*班|[验通点等快慢差]班|班[里上内]|班级|全[校级年]|年级|我们班)"
_SHE_EN: Final = (
    r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|[Hh]im|[Mm]y (?:\w+ )?(?:student|pupil|son|daughter|classmate)|(?:[Oo]ne|[Aa]|"
    r"[Tt]he|[Tt]his|[Tt]hat) (?:\w+ )?(?:boy|girl|child|pupil|kid|student))(?:'s)?\b"
)
_NAME_EN: Final = (
    r"\b(?!(?:The|This|That|These|It|There|Each|Every|Who|What|Which|Where|When|How|If|Is|In|On|At|Make|Use|Plan|"
    r"Write|Explain|Please|Class|Unit|Question|Exam)\b)"
    r"[A-Z][a-z]+(?: [A-Z][a-z]+)?(?:'s\b|(?= (?:has|had|have|is|was|got|gets|scored|failed|passed|came|dropped|"
    r"rose|fell|lives?|takes?|suffers?|broke|needs|missed|"
    r"ranked|ranks|received|earned|wears|lost|uses|finished|comes|went|goes|improved|averaged|sits|feels|did|does|can|"
    r"cannot|will|won|won't|needed|stayed|became|suffered|says|said|told|weighs|lacks|struggles|only|just|also)\b))"
)

PERSON: Final = re.compile(
    rf"小(?![学组时数题说结测班节球于车花标区写麦心型朋书吃费路])[\u4e00-\u9fff]|{_SURNAME}(?:同学|老师|某|叔叔|阿姨|家长)"
    rf"|(?:(?<![\u4e00-\u9fff])|(?<=[是让和与叫给找到把被由对跟请问比说])){_NAME}"
    rf"|[他她](?!们的?课)|该生|(?:学生|同学|考生|女生|男生)[甲乙丙丁A-D](?![A-Za-z组类班])|某[个名位]?(?:学生|同学|男生|女生|生)|[该这那位名个]同学|[这那该]个?(?:学生|孩子|男生|女生)|(?:有|一)[个名位](?:学生|孩子|男生|"
    rf"女生|同学)|孩子|{_KIN}|{_SHE_EN}|{_NAME_EN}"
)
SELF: Final = re.compile(
    r"我(?!们|国|校|想|要|需|给|帮|在准备|出|教|班)|\bI(?:'m|'ve)?\b(?! (?:want|need|would|teach|am teaching|am planning))|\b[Mm]y\b"
)
GROUP: Final = re.compile(
    _GROUP + r"|\b[Cc]lass (?:\w+ )?(?:average|mean)|\b(?:of|in) (?:the |my |our )?(?:[Cc]lass|[Gg]rade|[Yy]ear|[Ff]orm)\b|"
    r"\b(?:[Mm]y|[Oo]ur|[Tt]he) class\b"
)
EXAM: Final = re.compile(
    r"月考|期中|期末|模考|联考|统考|周测|单元测|[这上本]次(?:考|测)?|考试成绩|\b(?:last|this|mid-?term|final|mock) (?:exam|test)"
)

_PAPER: Final = re.compile(
    rf"满分|每[题道空问小个胜]|各\s*{N}\s*分|分值|分制|[共计]\s*{N}\s*分|及格线|题型|步骤|得分点|评分标准|控制在|难度|"
    rf"目标|公式|加权|方差|换算|气温|出一[份张套]|"
    r"\b(?:each|out of|pass mark|worth|aim for|difficulty|speed|weighted|scale)\b",
    re.IGNORECASE,
)
_TASK_EN: Final = re.compile(r"\b(?:each|pass mark|worth|aim for|difficulty|speed|weighted|scale|wants?|questions|rubric)\b", re.IGNORECASE)
_LESSON: Final = re.compile(
    r"教案|课件|阅读题|生物课|急救课|这一[课章]|讲[解座授]|一节|主题|专题|单元|习题|成因|传播|原理|结构图|示意图|实验|"
    r"病毒的|作文题|议论文|材料:|如何看待|怎么[讲写]|"
    r"《[^》]+》|进程|结点|节点|双亲表示|\b(?:lesson|chapter|unit|teach|explain|poster|assembly|process|node|vocabulary|discuss)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`kind` names what may not be kept; any of `who` in the sentence is enough, none means that `what` is enough alone.

    `unless` is looked for in the clause when the clause itself names somebody, else in the whole sentence.
    """

    kind: str
    name: str
    what: re.Pattern[str]
    who: tuple[re.Pattern[str], ...] = (PERSON,)
    unless: re.Pattern[str] | None = None


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_SCORE: Final = _any(
    rf"{N}\s*分(?![钟之制组段别享析成为数贝米类开支])",
    rf"(?:总分|均分|平均分?(?![给成配为到])|分数|成绩|最[高低]分?|卷面|得分)[^\d。;]{{0,6}}{N}(?!\s*[题道页节级左])",
    rf"{_SUBJECT}(?:卷|课)?[只才仅有考了得是为拿到仅]{{0,3}}\s*{N}(?!\s*[题道页课节章年月本个班.、])",
    rf"考[了到得]?(?:个|到)?\s*{N}(?!\s*[题道个页次遍年月场])|掉到\s*{N}|从\s*{N}\s*分?[升降掉提涨退]",
    rf"{_SUBJECT}[^。,;]{{0,4}}\d{{1,3}}\s*/\s*\d{{2,3}}",
    rf"{_SUBJECT}[^。;]{{0,6}}(?:不及格|没及格|未及格|挂科|优秀|良好|合格)|(?:不|没|未)及格|挂了?科",
    rf"从\s*[A-E][+-]?\s*[级等]?(?:掉|降|升|提|进|退|到)|{_SUBJECT}[^。,A-Za-z]{{0,4}}[A-E][+-]?(?![A-Za-z\d]|\s*[卷组班类版级层套])",
    r"(?:等级|得了?|拿了?|评[为定]|是)\s*[A-E][+-]?(?![A-Za-z\d])",
    rf"(?:及格|优秀|合格|优良|升学|上线)率[^\d。]{{0,12}}{N}\s*%?",
    rf"(?:语数[外英]|[两三四五六]科|各科|分别)[^\d。]{{0,6}}{N}(?:[,、]\s?{N})+",
)
_SCORE_EN: Final = _any(
    r"\b(?:scored?|got|gets|received|earned|made|failed|passed)\b[^.;]{0,24}?\b\d{1,3}(?:\.\d{1,2})?(?:/\d+|"
    r"%)?(?! (?:minutes|questions|books|students|times|days))",
    r"\bfrom \d{1,3} to \d{1,3}(?! ?(?:minutes|am|pm|degrees|%|cm|kg|questions|points each))|\baveraged \d{1,3}",
    r"\b(?:average|mean|mark|score|result|grade|total|GPA)s?\b[^.;\d]{0,24}\b\d{1,3}(?:\.\d+)?",
    r"\b(?:[Mm]aths?|[Ss]cience|[Ee]nglish|[Pp]hysics|[Cc]hemistry|[Hh]istory|[Bb]iology|[Gg]eography|[Aa]rt|grade|"
    r"report card)\b[^.;]{0,12}\b[A-E][+-]?(?![\w'])",
    r"\d{1,3}(?:\.\d+)?\s*% of (?:the |my |our )?[Cc]lass",
    r"\b(?:got|gets|received|earned|given)\b[^.;]{0,8}\b[A-E][+-]?(?![\w'])",
    r"\bfailed (?:in )?(?:the )?(?:[Mm]aths?|[Ss]cience|[Ee]nglish|[Pp]hysics|[Cc]hemistry|[Hh]istory|[Bb]iology|"
    r"[Gg]eography|exam|test|paper)\b",
)
_ORDINAL: Final = r"(?:\d{1,4}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
_RANK: Final = _any(
    rf"第\s*{N}\s*名|排名?[^\d。,]{{0,4}}第?\s*{N}|排(?:在)?(?:班级?|年级|全[校班级])?第?\s*{N}|(?:班级|年级|全校|全班|"
    rf"班里|全[县市区级])(?:的)?(?:第|前|倒数第?)\s*{N}",
    rf"倒数第?\s*{N}|排名?(?:在)?(?:[^,。]{{0,4}})(?:倒数|垫底|末尾|最后|前列|靠后)|(?:班里|班级|年级|"
    rf"全[校班])[前后倒第数]{{0,2}}\s*{N}[多几]?名|[前后]\s*{N}[多几]?名|"
    rf"(?:退步|进步|下降|上升|前进|后退|掉)了?\s*{N}\s*[名位]",
    rf"\b(?:ranked|ranks|came|placed|finished|is|was|stands)\b[^.;]{{0,12}}\b{_ORDINAL}\b[^.;]{{0,10}}\b(?:in|"
    rf"of) (?:the |her |his |my )?(?:class|grade|year|form|school)",
    rf"\b{_ORDINAL} (?:out )?of \d{{1,4}}\b|\b(?:from|to) {_ORDINAL}(?: place)?\b|\b{_ORDINAL} place\b|\blast but (?:one|"
    rf"two)\b|\b(?:top|bottom) (?:\d+|"
    rf"three|five|ten)\b[^.;]{{0,6}}\b(?:in|of) (?:the |her |his )?(?:class|grade|year|form)",
    r"\b(?:top|bottom|last) (?:of|in) (?:the |her |his )?(?:class|grade|year|form)\b",
)
_ILLNESS: Final = (
    "哮喘|抑郁|焦虑症|双相|躁狂|精神分裂|精神科|强迫症|多动症|抽动|自闭|孤独症|谱系|阅读障碍|智力障碍|智障|唐氏|脑瘫|"
    "残疾|癫痫|过敏|血压[偏]?高|高血压|低血糖|糖尿病|胰岛素|血友病|"
    "贫血|白血病|肿瘤|癌|化疗|透析|肝炎|乙肝|肺结核|结核|艾滋|携带者|梅毒|心脏病|先天性|心肌炎|肾[病炎]|胃[病炎溃]|肠炎|"
    "阑尾|骨折|手术|住院|开刀|色[弱盲]|弱视|斜视|失明|视力(?:只有|下降|障碍)|"
    "耳聋|失聪|听不见|听力(?:障碍|下降|受损)|助听器|人工耳蜗|口吃|怀孕|流产|痛经|月经|厌食|暴食|自残|自杀|割腕|确诊|"
    "服药|吃药|吃着药|打针|复查|病假|生病|重病|病情|病史|心理(?:医生|咨询|治疗|疾病|问题)|"
    "(?:得|患|有|查出|染)[了上过]?(?:严重|轻微|轻度|慢性|急性)?的?[\u4e00-\u9fff]{1,6}(?<!毛)(?:症|炎|癌|瘤|病)|"
    "[椎盘]突出|(?:学习|阅读|语言|发育|睡眠|进食|视力|听力|肢体|认知|情感|精神)障碍|中毒|发炎|送医|医院|就医|看病|急诊|"
    "治疗|[吃服用]了?[^。,]{0,4}药|康复|受伤|休克|昏迷|扭伤|脱臼|骨裂|烫伤|输液|吊水|缝针|肺炎|"
    "感冒|咳嗽|哮喘病|静脉曲张|肥胖症|侏儒|白化|狐臭|皮肤病|传染病|性病|服用|药瓶|胎记|义眼|石膏|拄拐|特殊教育|心脏|"
    "失眠|湿疹|荨麻疹|鼻炎|偏头痛|脊柱侧弯|甲亢|甲减|红斑狼疮|水痘|腮腺炎|新冠|阳性|流感|发[高低]?烧|近视\\s*\\d|轮椅|假肢"
)
_ILLNESS_EN: Final = (
    r"\b(?:asthma|depress(?:ion|ed)|anxiety|bipolar|schizophreni\w+|ADHD|autis\w+|dyslexi\w+|epilep\w+|diabet\w+|"
    r"insulin|allerg\w+|blood pressure|cancer|leuk[a]?emia|tumou?r|chemo\w*|hepatitis|HIV|"
    r"tuberculosis|heart (?:condition|disease|defect)|an[a]?emia|kidney|surgery|(?:had|needs|after) an operation|"
    r"hospital\w*|pneumonia|influenza|fever|injur\w+|illness|disorder|syndrome|infection|concussion|fractur\w+|rehab\w*|"
    r"diagnos\w+|"
    r"medication|pregnan\w+|hearing aid|deaf|colou?r-?blind|wheelchair|disab\w+|anorexi\w+|bulimi\w+|"
    r"self-harm\w*|suicid\w+|migraine\w*|eczema|seizure\w*|Tourette\w*|Down syndrome|broken (?:arm|leg)|"
    r"broke (?:his|her) (?:arm|leg)|therap(?:y|ist)|psychiatr\w+|sick leave|COVID)\b"
)
_PLACE: Final = rf"{N}\s*(?:号|栋|幢|单元|弄|室|座|楼)|[路街巷道]\s*{N}|(?:小区|新村|花园|公寓|家园|苑|院)[^。]{{0,4}}{N}"
_ADDRESS: Final = _any(
    rf"(?:家住|家在|住在|住址|家庭地址|[他她]家|[家户]籍|寄到|送到|住:)[^。;]{{0,24}}?(?:{_PLACE})",
    rf"家[:,]?[^。;,]{{0,16}}?[路街巷里村区园][^。;,]{{0,6}}?{N}\s*(?:号|栋|幢|单元|室)",
    rf"(?:住(?:在)?|地址:?\s*)[^。;,]{{0,16}}?(?:[路街道巷弄里][^。;,]{{0,4}}{N}\s*号|{N}\s*(?:单元|栋|幢))",
    r"\b(?:lives?|living|stays?) (?:at|in|on)\b[^.;]{0,40}\d",
    r"\b[Hh]ome address\b[^.;]{0,8}\d|\b(?:house|home|flat|apartment) is\b[^.;]{0,30}\d",
    r"\b\d{1,5} [A-Z]\w+ (?:Street|Road|Lane|Avenue|Drive|Close|Way)\b",
)
_FAMILY: Final = _any(
    "离异|离婚|再婚|单亲|低保|特困|贫困户|建档立卡|坐牢|入狱|服刑|判刑|拘留|去世|过世|病逝|早逝|欠[^。,]{0,8}(?:债|万|千块|钱)|破产|"
    "留守|外出?打工|在外打工|被[^。,]{0,6}打|家暴|虐待|孤儿|父母双亡|监护|下岗|失业|"
    "由(?:爷爷|奶奶|外公|外婆|姥姥|姥爷|亲戚|姑姑|舅舅)[^。,]{0,4}(?:带|养|照[顾看]|抚)|父母不管|没有?(?:爸|妈|父亲|"
    "母亲)|家境|(?:家庭|经济)困难|拮据|没钱|负债|"
    "继[父母]|后[爸妈]|收养|领养|寄养|酗酒|赌博|吸毒|助学金|贫困|跟(?:着)?(?:爷爷|奶奶|外公|外婆|姥姥|姥爷)|吵架分居|分居|私生",
    r"\b(?:divorc\w+|separated|in prison|in jail|jailed|on benefits|on welfare|died|passed away|foster|orphan\w*|"
    r"adopted|lost (?:his|her|their) jobs?|unemployed|laid off|drinks (?:a lot|heavily)|"
    r"alcoholic|drug addict|single (?:mother|father|mum|mom|dad|parent)|single-parent|in debt|poor family|cannot afford|"
    r"can't afford|refugee|evicted|homeless|bankrupt|"
    r"beats? (?:him|her)|abus\w+|step(?:father|mother)|"
    r"lives with (?:his|her) (?:grand\w+|aunt|uncle))\b",
)
_CONTACT: Final = _any(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}",
    r"(?:QQ|[qQ]{2}|扣扣)\s*号?码?[^\d。]{0,6}[1-9]\d{4,11}(?!\d)",
    r"(?:微信|[Ww]e[Cc]hat|WECHAT|[Vv][Xx]|抖音|钉钉|[Ss]kype|WhatsApp|Telegram|Line)\s*(?:号|id|"
    r"ID)?[^A-Za-z\d。]{0,6}(?:is|是|:)?\s*(?=[A-Za-z_-]*[\d_])[A-Za-z][\w-]{4,24}",
    r"\bwxid_\w+",
)

RULES: Final = (
    Rule("contact", "address of mail or chat", _CONTACT, ()),
    Rule(
        "score",
        "mark of somebody",
        _SCORE,
        (PERSON,),
        re.compile(rf"满分|每[题道空问小]|分值|分制|[共计]\s*{N}\s*分|左右|希望[^。]{{0,8}}均分?|[他她]要求"),
    ),
    Rule(
        "score",
        "mark of a group or in an exam",
        _any(rf"(?:均分|平均分?|及格率|优秀率|最[高低]分?)[^\d。;]{{0,12}}{N}"),
        (GROUP, EXAM),
        _PAPER,
    ),
    Rule(
        "score",
        "marks of several subjects",
        _any(rf"{_COURSE}\s{{0,3}}{N}\s{{0,3}}分?(?:[,、\s]{{1,3}}{_COURSE}\s{{0,3}}{N}\s{{0,3}}分?)+"),
        (),
        _PAPER,
    ),
    Rule(
        "score",
        "marks of several people",
        _any(rf"{_NAME}\s{{0,3}}\d{{2,3}}\s{{0,3}}分?(?:[,、\s]{{1,3}}{_NAME}\s{{0,3}}\d{{2,3}}\s{{0,3}}分?)+"),
        (),
        _PAPER,
    ),
    Rule("score", "mark in English", _SCORE_EN, (PERSON, GROUP), _TASK_EN),
    Rule(
        "score",
        "class in English",
        _any(r"\b[Cc]lass (?:average|mean)\b[^.;]{0,12}\d|\d{1,3}(?:\.\d{1,2})?\s*% of (?:the |my |our )?[Cc]lass"),
        (),
        _PAPER,
    ),
    Rule("rank", "rank of somebody", _RANK, (PERSON,)),
    Rule("health", "illness of somebody", _any(_ILLNESS, _ILLNESS_EN), (PERSON, SELF, GROUP), _LESSON),
    Rule(
        "address",
        "where somebody lives",
        _ADDRESS,
        (PERSON, re.compile(r"家庭?(?:住址|地址)|(?:家长|学生|家庭)的?(?:住址|地址)|[Hh]ome address")),
    ),
    Rule("family", "family of somebody", _FAMILY, (PERSON,), _LESSON),
)
