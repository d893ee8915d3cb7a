"""What is said about people: the rules of `redlines` for scores, ranks, health, addresses, families and contacts.

A rule finds its `what` in a clause; it counts when the sentence also speaks of somebody (`who`) and nothing in the sentence shows that a
lesson or a paper is meant (`unless`). The patterns run on normalised text (NFKC, nothing invisible, spaces between digits kept).
"""

import re
from dataclasses import dataclass
from typing import Final

from chat.text.redline_people import COURSE, EXAM, GROUP, KIN, NAME, PERSON, SELF, SUBJECT, N

_PAPER: Final = re.compile(
    rf"满分|每[题道空问小个胜]|各\s*{N}\s*分|分值|分制|[共计]\s*{N}\s*分|及格线|题型|步骤|得分点|评分标准|控制在|难度|"
    rf"目标|公式|加权|方差|换算|气温|出一[份张套]|"
    r"\b(?:each|out of|pass mark|worth|aim for|difficulty|speed|weighted|scale)\b",
    re.IGNORECASE,
)
_TASK_EN: Final = re.compile(
    r"\b(?:each|pass mark|worth|aim for|difficulty|speed|weighted|scale|wants?|questions|"
    r"rubric)\b",
    re.IGNORECASE,
)
_LESSON: Final = re.compile(
    r"教案|课件|阅读题|讨论题|辩论|论述题|口语题|写作题|生物课|急救课|这一[课章]|讲[解座授]|一节|主题|专题|单元|习题|成因|传播|原理|结构图|示意图|实验|"
    r"病毒的|作文题|为题|议论文|材料:|如何看待|怎么[讲写画做上]|小说|故事里|电影|剧本|人物形象|模板|科普|宣传|选修|提纲|板书|导入|"
    r"概率题|图谱|"
    r"《[^》]+》|进程|结点|节点|双亲表示|\b(?:lesson|chapter|unit|teach|explain|poster|assembly|process|node|vocabulary|discuss\w*|"
    r"novel|story|"
    r"film|movie|book|poem|play|character|dialogue|debate|law)\b",
    re.IGNORECASE,
)


# What a lesson, a task or a question is about; where one of these stands, nobody need be meant.
_TOPIC: Final = re.compile(
    rf"{_LESSON.pattern}|[课题讲写画卷编]|造[句一]|设计|方案|阅读|课文|材料|报告|论文|作文|记叙文|小报|手抄报|海报|如何|怎么|怎样|"
    rf"什么|哪些|哪[种类个]|为什么|吗|介绍|比较|分析|列出|"
    r"总结|整理|解释|预防|防治|宣[传讲]|主题|单词|句|纪录片|科普|卫生|教育|研究|知识|概念|结构|功能|作用|机[理制]|分类|属于|特点|区别|"
    r"关系|模型|政策|法|率|史|"
    r"伦理|讨论|议论|情节|形象|人物|诗|小说|剧|电影|话题|事件|新闻|进程|线程|节点|继承|树|语病|程序|计算机|电脑|软件|系统|细胞|细菌|"
    r"疫苗|药物|成分|饮食|食谱|健康|"
    r"祝|申请|截止|繁殖|概率|遗传|统计|普查|表|栏|模板|通知|邀请|讲座|活动|流程|手册|清单|学[:科生专]常见|[?？]|"
    r"\b(?:lessons?|units?|chapter|teach\w*|explain|describe|compare|contrast|list|label|plan|design|draw|discuss|debate|write|read|"
    r"prepare|create|make|quiz|"
    r"worksheet|poster|leaflet|essay|topic|text|dialogue|vocabulary|word|spell|novel|story|play|poem|film|character|what|how|why|"
    r"which|where|when|who|"
    r"vaccines?|prevention|function|causes?|effects?|symptoms?|immune|cells?|virus\w*|bacteria|law|history|war|economics?|society|"
    r"policy|process|"
    r"node|tree|class|program\w*|software|computer|code|bug|debug|system|club|basics|experiment|research|passage|article|reading|"
    r"heroine|hero|king|queen|Hamlet|century|18\d\ds?|19\d0s)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`kind` names what may not be kept; any of `who` in the sentence is enough, none means that `what` is enough alone.

    `unless` is looked for in the clause when the clause itself names somebody, else in the whole sentence. `needs` is cheap to look
    for and stands in every sentence in which `what` is found.
    """

    kind: str
    name: str
    what: re.Pattern[str]
    who: tuple[re.Pattern[str], ...] = (PERSON,)
    unless: re.Pattern[str] | None = None
    needs: re.Pattern[str] | None = None


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _quick(pattern: str) -> str:
    """The same alternatives, the plain words among them behind one look at their first characters: of most places that is enough."""
    alternatives = re.findall(r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]|[^|(\[])+", pattern)
    words = [one for one in alternatives if re.fullmatch(r"\w+", one)]
    patterns = [one for one in alternatives if one not in words]
    firsts = "".join(sorted({word[0] for word in words}))
    return "|".join([f"(?=[{firsts}])(?:{'|'.join(words)})", *patterns])


_SCORE: Final = _any(
    r"(?:[两三四五六七八九]门|[两三四五六七八九]科|语数[外英])[^。;\d]{0,4}(?:加起来|一共|总共|合计|总[和分])[^。;\d]{0,4}\d{2,3}",
    rf"{N}\s*[多几来]?分(?![钟之制组段别享析成为数贝米类开支])",
    rf"(?:总分|均分|平均分?(?![给成配为到])|分数|成绩|最[高低]分?|卷面|得分)[^\d。;]{{0,6}}{N}(?!\s*[题道页节级左])",
    rf"{SUBJECT}(?:卷|课)?[只才仅有考了得是为拿到仅]{{0,3}}\s*{N}(?!\s*[题道页课节章年月本个班.、])",
    rf"考[了到得]?(?:个|到)?\s*{N}(?!\s*[题道个页次遍年月场])|[掉跌滑降]到\s*{N}|从\s*{N}\s*分?[升降掉提涨退跌滑进]",
    rf"{SUBJECT}(?:的)?(?:成绩|分数|得分)[^\d。;]{{0,4}}{N}|绩点[^\d。;]{{0,6}}{N}|(?:得|拿|"
    rf"考)了?\s*{N}(?!\s*[题道个页次遍年月场张本枚朵支块元名])",
    r"(?:[上这本下]个?学期|[上这本]次|期[中末]|[一二三]模)[^。,;\d]{0,4}\d{2,3}(?!\s*[页题道个节课章年月届周天]|\s*分钟)",
    rf"{SUBJECT}(?:常年|一直|总是|总在|稳定在|徘徊在|老是|基本)[^\d。;]{{0,3}}{N}|(?:体测|体能)[^。;]{{0,8}}(?:不合格|不及格|优秀)",
    rf"(?:[扣丢失]|少了?|多了?|涨了?|差)\s*{N}\s*分",
    rf"{SUBJECT}[^。,;]{{0,4}}\d{{1,3}}\s*/\s*\d{{2,3}}",
    rf"{SUBJECT}(?:又|也|都)?挂了|{SUBJECT}[^。;]{{0,6}}(?:不及格|没及格|未及格|挂科|优秀|良好|合格)|(?:不|没|未)及格|挂了?科",
    rf"从\s*[A-E][+-]?\s*[级等]?(?:掉|降|升|提|进|退|到)|{SUBJECT}[^。,A-Za-z]{{0,4}}[A-E][+-]?(?![A-Za-z\d]|\s*[卷组班类版级层套])",
    rf"(?:{SUBJECT})(?:的)?(?:成绩|等级|评级)?(?:是|为|得了?|拿了?|评[为定])?\s*[A-E][+-]?(?![A-Za-z\d]|\s*[卷组班类版级层套])",
    r"(?:等级|得了?|拿了?|评[为定]|是|[降升掉变]为?[到成至]?)\s*[A-E][+-]?(?![A-Za-z\d])",
    rf"(?:及格|优秀|合格|优良|升学|上线)率[^\d。]{{0,12}}{N}\s*%?",
    rf"(?:语数[外英]|[两三四五六]科|各科|分别)[^\d。]{{0,6}}{N}(?:[,、]\s?{N})+",
)
# A sentence that is to be reworded says nothing of anybody.
_REWORDING: Final = re.compile(r"改[成为写]|造句|译成|翻译|句[型式]|填空|\b(?:translate|rewrite|rephrase)\b", re.IGNORECASE)
# A list of marks, whoever has them.
_MARKS: Final = _any(
    r"(?:成绩|月考|期中|期末|周[练考测]|[一二三]模|小测|测验|"
    r"结果)[^。;\d]{0,12}(?:[\u4e00-\u9fff]{2,4}\s{0,2}\d{2,3}\s{0,2}分?[,、\s]{1,2})"
    r"{1,9}[\u4e00-\u9fff]{2,4}\s{0,2}\d{2,3}(?!\s*[题道页个课节章分年月])",
    rf"{SUBJECT}[^。;]{{0,12}}\d{{2,3}}(?:[、,]\s?\d{{2,3}}){{2,20}}(?!\s*[题道页个课节章])",
    rf"(?:{COURSE}\s{{0,2}}[A-E][+-]?(?:[,、\s]{{1,2}}|$)){{2,9}}|"
    rf"{COURSE}\s{{0,2}}[A-E][+-]?[,、\s]{{1,2}}{COURSE}\s{{0,2}}[A-E][+-]?(?![A-Za-z\d])",
    r"(?:\b[A-Z][a-z]{1,15} \d{2,3}(?:[,;]| and| &) ?){2,20}(?:and )?[A-Z][a-z]{1,15} \d{2,3}\b",
)
_SCORE_EN: Final = _any(
    r"\b(?:bombed|flunked|aced) (?:an?|the|this|that|his|her|[A-Z]?[a-z]+)\b",
    r"\b\d{1,3} (?:out )?of (?:my|our|the|these|those) (?:students|pupils|kids|children|class)\b[^.;]{0,20}\b(?:pass|fail)ed\b",
    r"\bfrom an? [A-E][+-]? to an? [A-E]\b|\b(?:quiz\w*|tests?|exams?|papers?)\b[^.;]{0,12}\b(?:was|were|is|"
    r"are)\b [^.;]{0,4}\d{1,3}\b|\b(?:students|kids|pupils|children|of them)\b[^.;]{0,20} failed\b(?! to)",
    r"\b(?:SAT|ACT|TOEFL|IELTS|GPA|[Rr]eading level|[Pp]ass rate)s?\b[^.;\d]{0,12}\d|\b\d{1,3}% in (?:the|her|his|[A-Za-z]+)\b|"
    r"\b\d{1,3} average\b",
    r"\bgot a (?:zero|nought)|\b(?:[Mm]aths?|[Ss]cience|[Ee]nglish|[Pp]hysics|[Cc]hemistry|[Hh]istory|[Bb]iology|[Gg]eography|"
    r"[Ff]rench)\b:? \d{1,3}(?:%| percent|/\d)",
    r"\b(?:scored?|scores|got(?! (?:up|to|on|off|home|back|in|out))|gets(?! (?:up|to|on|off|home|back|in|out))|received|"
    r"earned|made|failed|passed|reached|managed)\b[^.;]{0,24}?\b\d{1,3}(?:\.\d{1,2})?(?:/\d+|"
    r"%)?(?! (?:minutes|questions|books|students|times|days))",
    r"\b(?:dropped|lost|gained|improved by|fell by|fell|rose by) (?:\w+ )?\d{1,3} (?:points?|marks?)\b",
    r"\b(?:got|gets|received|earned|scored|has|had) (?:full|perfect|zero|no|top) (?:marks?|scores?)\b|\b(?:below|under|above|"
    r"over) \d{1,3}(?:%| marks| points)?(?= (?:in|on)|[.,;]|$)",
    r"\bfrom \d{1,3} to \d{1,3}(?! ?(?:minutes|am|pm|degrees|%|cm|kg|questions|points each))|\baveraged \d{1,3}",
    r"\b(?:average|mean|mark|score|result|grade|total|GPA)s?\b[^.;\d]{0,24}\b\d{1,3}(?:\.\d+)?",
    r"\b(?:[Mm]aths?|[Ss]cience|[Ee]nglish|[Pp]hysics|[Cc]hemistry|[Hh]istory|[Bb]iology|[Gg]eography|[Aa]rt|grade|"
    r"report card)\b[^.;]{0,12}\b[A-E][+-]?(?![\w'])",
    r"\d{1,3}(?:\.\d+)?\s*% of (?:the |my |our )?[Cc]lass",
    r"\b(?:got|gets|received|earned|given|graded)\b[^.;]{0,8}\b[A-E][+-]?(?![\w'])",
    r"\bfailed (?:in )?(?:the )?(?:[Mm]aths?|[Ss]cience|[Ee]nglish|[Pp]hysics|[Cc]hemistry|[Hh]istory|[Bb]iology|"
    r"[Gg]eography|exam|test|paper)\b",
)
_ORDINAL: Final = r"(?:\d{1,4}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
_RANK: Final = _any(
    r"\b[Aa]mong (?:the )?\d{1,4} (?:pupils|students|children|kids)\b[^.;]{0,24}\b\d{1,4}",
    r"(?:班[里级上]|年级|全[班校])的?(?:末[尾位流]|[中上下]游|前列)",
    rf"第\s*{N}\s*名(?!\s*(?:同学|学生|选手|队员|上|的同学))|排名?[^\d。,]{{0,4}}第?\s*{N}|排(?:在)?(?:班级?|年级|"
    rf"全[校班级])?第?\s*{N}|(?:班级|年级|全校|全班|"
    rf"班里|全[县市区级])(?:的)?(?:第|前|倒数第?)\s*{N}",
    rf"倒数第?\s*{N}(?!\s*[题道页行段节章课个句列步棒组天周])|[垫]底|吊车尾|中下游|排名?(?:在)?(?:[^,。]{{0,4}})(?:倒数|垫底|末尾|"
    rf"最后|前列|靠后)|(?:班里|班级|年级|"
    rf"全[校班])[前后倒第数]{{0,2}}\s*{N}[多几]?名|[前后]\s*{N}[多几]?名|"
    rf"(?:退步|进步|下降|上升|前进|后退|掉)了?\s*{N}\s*[名位]",
    rf"\b(?:ranked|ranks|came|placed|finished|is|was|stands)\b[^.;]{{0,12}}\b{_ORDINAL}\b[^.;]{{0,10}}\b(?:in|"
    rf"of) (?:the |her |his |my |our |their )?(?:class|grade|year|form|school)",
    r"\bbeen (?:first|second|third|last) in (?:the |her |his |my |our |their )?(?:class|grade|year|form)\b",
    r"\bnumber (?:one|two|three|\d{1,3}) in (?:the |her |his |my |our |their )?(?:class|grade|year|form|school)",
    r"\b(?:fell|dropped|rose|climbed|slipped|lost|gained|moved (?:up|down)|went (?:up|down)) (?:by )?(?:\w+ ){1,2}(?:places?|"
    r"positions?|ranks?)\b",
    rf"\b{_ORDINAL} (?:out )?of \d{{1,4}}\b|\b(?:from|to) {_ORDINAL}(?: place)?\b|\b{_ORDINAL} place\b|\blast but (?:one|"
    rf"two)\b|\b(?:[Tt]op|[Bb]ottom) (?:\d+|"
    rf"three|five|ten)\b[^.;]{{0,6}}\b(?:in|of) (?:the |her |his |my |our |their )?(?:class|grade|year|form)",
    r"\b(?:top|bottom|last) (?:of|in) (?:the |her |his |my |our |their )?(?:class|grade|year|form)\b",
)
# Only people sit exams and fall ill, so nobody need be named.
_SAT: Final = _any(
    rf"(?:没考好|考砸|考得)[^。;\d]{{0,8}}\d{{1,3}}|卷面(?:分|只有|才)?\s*\d{{1,3}}(?!\s*分?的?(?:书写|整洁))|(?:考了|[只才仅](?:考|得|"
    rf"拿)了?)\s*个?\s*{N}(?!\s*[题道个页次遍年月场张本枚朵支块元名天])"
)
_FELL_ILL: Final = _any(
    r"对[^。,;]{1,8}过敏(?!反应|原|性|的|体|症)|[有是][^。,;]{0,6}(?:病史|过敏史)|戴着?(?:助听器|人工耳蜗|支具|义肢|假肢)|患儿|"
    r"视力(?:只有|才)?\s*[01]\.\d|发高?烧\s*\d{2}|坐(?:着)?轮椅",
    r"(?:患(?:有|了|上)?(?!者|病率|难|得患失)|确诊(?:为|了|得)?|诊断[为出]|查出)[^。,;]{0,8}(?:病|症|癌|炎|瘤|障碍)",
)
# A place in a class or an exam is somebody's, whoever that is.
_PLACE_IN_CLASS: Final = _any(
    rf"(?:全校|全班|班里|班上|班级|全?年级|全区|全县|全市|考试|期[中末])[^。,;]{{0,4}}(?:倒数)?第\s*{N}(?:\s*名|$|[。,;!了])|"
    rf"名次[^。;]{{0,10}}\d|(?:年级|班级|"
    rf"全[校班市区县])(?:排名?)?\s*{N}\s*名|全[班校]倒数|(?:班级|年级|全[班校]|班[里上])[^。,]{{0,2}}(?:垫底|倒数|吊车尾)|"
    rf"排名[^。\d]{{0,3}}1[.、]",
    rf"(?:进步|退步|前进|后退|上升|下降|[升降掉滑])到了?(?:[班年]级)?第?\s*{N}\s*[名位]|排在?第?\s*{N}\s*[名位][^。;]{{0,6}}[退进]步|"
    rf"班[^。;]{{0,6}}最后一名",
    r"\b(?:class )?rank(?:ing)? (?:is|was|of) \d{1,4}\b|\b[Oo]ut of (?:the )?\d{1,4} (?:pupils|students|children|"
    r"kids)\b[^.;]{0,20}\d{1,4}(?:st|nd|rd|th)\b",
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
    "晕血|半月板|韧带|皮肤病|发育迟缓|孕\\s*\\d|视力很?[差低]|杂音|激素药|扁桃体|罕见病|多动|耳朵(?:不好|背|听)|眼睛(?:不好|看不)|"
    "生理期|肚子[疼痛]|割[伤腕]|二胎|孕[期妇]|产假|保胎|精神(?:失常|病|分裂)|"
    "结节|息肉|囊肿|血栓|中风|脑梗|心梗|痛风|近视[^。;\\d]{0,6}\\d{2,4}\\s*度|[听视]障|肢残|脑[瘫瘤]|智[力商](?:低|障|缺)|聋哑|聋人|哑巴|盲人|颈椎|腰椎|头[晕痛疼]|胃[痛疼]|腰[痛疼酸]|身体(?:不好|不太好|很差|虚弱)|"
    "嗓子[^。,]{0,4}(?:坏|哑|不能)|体弱|休学养|残障|心悸|恐慌|惊恐|"
    "失眠|湿疹|荨麻疹|鼻炎|偏头痛|脊柱侧弯|甲亢|甲减|红斑狼疮|水痘|腮腺炎|新冠|阳性|流感|发[高低]?烧|近视\\s*\\d|轮椅|假肢"
)
_ILLNESS_EN: Final = (
    r"\b(?:asthma|depress(?:ion|ed)|anxiety|bipolar|schizophreni\w+|ADHD|autis\w+|dyslexi\w+|epilep\w+|diabet\w+|"
    r"insulin|allerg\w+|blood pressure|cancer|leuk[a]?emia|tumou?r|chemo\w*|hepatitis|HIV|"
    r"tuberculosis|heart (?:condition|disease|defect)|an[a]?emia|kidney|surgery|(?:had|needs|after) an operation|"
    r"hospital\w*|pneumonia|influenza|fever|injur\w+|illness|disorder|syndrome|infection|concussion|fractur\w+|rehab\w*|"
    r"diagnos\w+|"
    r"medication|pregnan\w+|hearing aid|deaf|colou?r-?blind|wheelchair|disab\w+|anorexi\w+|bulimi\w+|"
    r"fainted|antidepress\w*|an[a]?emia|sickle cell|cerebral palsy|recovering from|blood sugar|palsy|leg in a cast|crutches|"
    r"hay fever|glasses because|chronic|relapse\w*|panic attacks?|miscarriage|insomnia|arthritis|asthmatic|diabetic|epileptic|"
    r"eating disorder|blind in|visually impaired|hard of hearing|"
    r"stutter\w*|stammer\w*|sick|ill|unwell|hurt (?:his|her|my) \w+|sprain\w*|celiac|coeliac|inhaler|nut allergy|"
    r"self-harm\w*|suicid\w+|migraine\w*|eczema|seizure\w*|Tourette\w*|Down syndrome|broken (?:arm|leg)|"
    r"br(?:oke|eaks?|oken) (?:his|her|my|their|an?) (?:\w+ )?(?:arm|leg|wrist|ankle|finger|nose|hand|foot|toe|hip|collarbone)|"
    r"(?:wears?|wearing|in) a cast|"
    r"(?:eyesight|vision|hearing) (?:is|was) (?:\w+ )?(?:poor|bad|weak|failing)|"
    r"(?:poor|bad|weak) (?:eyesight|vision|hearing)|therap(?:y|ist)|psychiatr\w+|sick leave|COVID)\b"
)
_PLACE: Final = rf"{N}\s*(?:号|栋|幢|单元|弄|室|座|楼|组)|[路街巷道]\s*{N}|(?:小区|新村|花园|公寓|家园|苑|院)[^。]{{0,4}}{N}"
_ADDRESS: Final = _any(
    rf"(?:家住|家在|住在|搬到|搬去|搬进|住址|家庭地址|[他她]家|[家户]籍|寄到|送到|住:)[^。;]{{0,24}}?(?:{_PLACE})",
    rf"家[:,]?[^。;,]{{0,16}}?[路街巷里村区园][^。;,]{{0,6}}?{N}\s*(?:号|栋|幢|单元|室)",
    rf"(?:住(?:在)?|地址:?\s*)[^。;,]{{0,16}}?(?:[路街道巷弄里][^。;,]{{0,4}}{N}\s*号|{N}\s*(?:单元|栋|幢))",
    rf"[路街道巷弄里村镇]\s*{N}\s*号?(?:院|大院)?\s*{N}\s*(?:号楼|楼|栋|幢|单元|室)|住\s*{N}\s*号?(?:楼|栋|幢)",
    rf"(?:住|搬)[^。;,]{{0,16}}?[村屯庄]\s*{N}\s*[组号队]",
    r"\b(?:lives?|living|stays?|lived|moved) (?:at|in|on|to)\b[^.;]{0,40}\d",
    r"\b[Aa]ddress(?: is|:)[^.;]{0,8}\d|\b[Hh]ome address\b[^.;]{0,8}\d|\b(?:house|home|flat|apartment) is\b[^.;]{0,30}\d",
    r"\b\d{1,5} [A-Z]\w+ (?:Street|Road|Lane|Avenue|Drive|Close|Way)\b",
)
_HOME: Final = _any(
    rf"(?:苑|湾|园|城|府|庭|邸|居|里|小区|公寓|新村|家园|花园)\s*(?:{N}\s*期)?\s*{N}\s*(?:幢|栋|号楼|座)\s*(?:{N}\s*单元)?\s*\d{{3,4}}",
    rf"(?:[路街道巷]|大道)\s*{N}\s*号(?:院)?\s*(?:{N}\s*(?:号楼|栋|幢|座)\s*)?{N}\s*单元|\d+\s*弄\s*\d+\s*号",
)
_LIVES: Final = _any(
    rf"(?:租?住在|家住|住址|家在|地址[是:])[^。;,]{{0,16}}?{N}\s*(?:号|栋|幢|楼|单元|门|弄)|(?:镇|乡)[^。;,]{{1,6}}(?:村|屯|"
    rf"组)\s*{N}\s*[号组]",
    r"\b(?:lives?|stays?|living) (?:at|in|on)\b[^.;]{0,30}\d|\b[Mm]y (?:flat|house|apartment|home|address) is\b[^.;]{0,30}\d",
)
_FAMILY: Final = _any(
    _quick(
        "坐了[^。]{0,2}牢|诈骗|身世|养父母|困难补助|[摔病累打]死|身亡|遇难|从没管过|没人管|离异|离婚|再婚|单亲|低保|特困|贫困户|建档立卡|"
        "坐牢|入狱|服刑|判刑|拘留|去世|过世|病逝|早逝|欠[^。,]{0,8}(?:债|万|千块|"
        "钱|贷)|破产|改嫁|再娶|"
        "留守|外出?打工|在外打工|被[^。,]{0,6}打|家暴|虐待|孤儿|父母双亡|常年在外|长期在外|不在身边|监护|下岗|失业|"
        "由[\u4e00-\u9fff]{2,4}(?:带大|带着|抚养|照[顾看]|监护)|由(?:爷爷|奶奶|外公|外婆|姥姥|姥爷|亲戚|姑姑|舅舅)[^。,]{0,4}(?:带|养|"
        "照[顾看]|抚)|父母不管|没[有了]?(?:爸|妈|父亲|"
        "母亲)|家境|(?:家庭|经济)困难|拮据|没钱|负债|"
        "继[父母]|后[爸妈]|收养|领养|寄养|酗酒|赌博|吸毒|助学金|贫困|跟(?:着)?(?:爷爷|奶奶|外公|外婆|姥姥|姥爷)|吵架分居|分居|私生|戒毒|"
        "被抓|被判|判了|在押|精神(?:失常|病)|月收入|福利院|车祸|病重|患病|重男轻女|"
        "不管[他她孩]"
    ),
    rf"{KIN}[^。,]{{0,4}}(?:刚走|走了|不在了|没了|[打骂])",
    r"\b(?:divorc\w+|separated|split up|splitting up|walked out|remarried|raised by (?:his|her|their) (?:grand\w+|aunt|uncle)|"
    r"hits (?:him|her|them)|"
    r"famil(?:y|ies) (?:is|are) (?:very |quite |so )?poor|arrested|refugees?|raising \w+ \w+ alone|alone with (?:two|three|"
    r"the) kids|behind on (?:the )?rent|orphanage|in rehab|serving time|behind bars|convicted|food stamps|free school meals|custody|"
    r"in prison|in jail|jailed|on benefits|on welfare|died|passed away|foster|orphan\w*|"
    r"adopted|lost (?:his|her|their) jobs?|unemployed|laid off|drinks (?:a lot|heavily)|"
    r"alcoholic|drug addict|single (?:mother|father|mum|mom|dad|parent)|single-parent|in debt|poor family|cannot afford|"
    r"can't afford|refugee|evicted|homeless|bankrupt|"
    r"beats? (?:him|her)|abus\w+|step(?:father|mother)|"
    r"lives with (?:his|her) (?:grand\w+|aunt|uncle))\b",
)
_CONTACT: Final = _any(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}",
    r"(?:QQ|[qQ]{2}|扣扣)\s*号?码?[^\d。]{0,6}[1-9]\d{4,11}(?!\d)",
    r"[Ss]kype: ?[\w.-]{5,24}|(?:微信|[Ww]e[Cc]hat|WECHAT|[Vv][Xx]|抖音|钉钉|[Ss]kype|WhatsApp|Telegram|Line)\s*(?:号|id|"
    r"ID)?[^A-Za-z\d。]{0,6}(?:is|是|:)?\s*(?=[A-Za-z_-]*[\d_])[A-Za-z][\w-]{4,24}",
    r"[加+]\s?(?:我|个|她|他|老师)?\s?[Vv]信?[:\s]{1,2}(?=[A-Za-z_-]*[\d_])[A-Za-z][\w-]{4,24}",
    r"\bwxid_\w+|(?:企鹅号?|扣扣)\s*[^\d。]{0,4}[1-9]\d{4,11}(?!\d)",
    r"(?:[Ii]nstagram|[Ii]nsta|[Ss]napchat|[Tt]ik[Tt]ok|[Ff]acebook|小红书|微博|快手|B站)\s*(?:号|id|ID|name|account|handle)?\s*(?:is|是|"
    r":)?\s*@?(?=[A-Za-z._-]*[\d_.])[A-Za-z][\w.-]{3,24}\w",
)

_ILL: Final = _any(_quick(_ILLNESS), _ILLNESS_EN)

# Cheap to look for: one set of characters each.
_NUMERAL: Final = re.compile("[\\d零一二三四五六七八九十百两]")
_DIGIT: Final = re.compile(r"\d")
_LATIN: Final = re.compile("[A-Za-z]")

RULES: Final = (
    Rule("contact", "address of mail or chat", _CONTACT, (), needs=re.compile(r"[@\d_.]|kype")),
    Rule(
        "score",
        "mark of somebody",
        _SCORE,
        (PERSON,),
        re.compile(rf"(?<!\()满分|每[题道空问小]|分值|分制|[共计]\s*{N}\s*分|左右|希望[^。]{{0,8}}均分?|[他她]要求"),
        needs=re.compile("[\\d零一二三四五六七八九十百两A-E及挂优良合]"),
    ),
    Rule(
        "score",
        "full marks of somebody",
        _any(rf"(?:[考得拿是]了?个?|{SUBJECT})\s*满分(?!\s*\d|是|为|设|的|[多几])"),
        (PERSON,),
        needs=re.compile("满"),
    ),
    Rule(
        "score",
        "mark of a group or in an exam",
        _any(
            rf"(?:均分(?![给成配到])|平均(?!分?[给成配到]|分?为?\s*\d+\s*[组份堆段])|及格率|优秀率|最[高低]分?)[^\d。;]{{0,12}}{N}",
            rf"{N}\s*[个名位](?:人|同学|学生|孩子)?[^。;,]{{0,6}}(?:[不没未]及格|挂科)",
            rf"{N}\s*分(?:以[上下]|段|左右的)|差了?\s*{N}\s*分|(?:达到|低于|高于|不到|超过)了?\s*{N}\s*分",
        ),
        (GROUP, EXAM, re.compile(r"(?:之一|一半|%|多数|少数|[个名位])的?(?:学生|同学|孩子|人)")),
        _PAPER,
        needs=_NUMERAL,
    ),
    Rule(
        "score",
        "marks of several subjects",
        _any(rf"{COURSE}\s{{0,3}}{N}\s{{0,3}}分?(?:[,、\s]{{1,3}}{COURSE}\s{{0,3}}{N}\s{{0,3}}分?)+"),
        (),
        _PAPER,
        needs=_NUMERAL,
    ),
    Rule(
        "score",
        "marks of several people",
        _any(rf"{NAME}:?\s{{0,3}}\d{{2,3}}\s{{0,3}}分?(?:[,、\s]{{1,3}}{NAME}:?\s{{0,3}}\d{{2,3}}\s{{0,3}}分?)+"),
        (),
        _PAPER,
        needs=_DIGIT,
    ),
    Rule(
        "score",
        "list of marks",
        _MARKS,
        (),
        re.compile(rf"{_PAPER.pattern}|数据|样本|中位数|众数|求|\b(?:data|sample|find)\b", re.IGNORECASE),
        needs=re.compile(r"[\dA-E]"),
    ),
    Rule("score", "mark in English", _SCORE_EN, (PERSON, GROUP, re.compile(r"\b[Tt]heir\b")), _TASK_EN, needs=_LATIN),
    Rule(
        "score",
        "class in English",
        _any(r"\b[Cc]lass (?:average|mean)\b[^.;]{0,12}\d|\d{1,3}(?:\.\d{1,2})?\s*% of (?:the |my |our )?[Cc]lass"),
        (),
        _PAPER,
        needs=_DIGIT,
    ),
    Rule("score", "mark of whoever sat the exam", _SAT, (), _PAPER, needs=_NUMERAL),
    Rule(
        "rank",
        "rank of somebody",
        _RANK,
        (PERSON, re.compile(r": [A-Z][a-z]+, [A-Z]")),
        _REWORDING,
        needs=re.compile("[\\d零一二三四五六七八九十百两底尾游后前a-z]"),
    ),
    Rule("rank", "place in a class", _PLACE_IN_CLASS, (), needs=re.compile("[\\d零一二三四五六七八九十百两倒底尾]")),
    Rule("health", "illness outside a lesson", _ILL, (), _TOPIC),
    Rule("health", "illness of somebody", _ILL, (PERSON, SELF, GROUP), _LESSON),
    Rule(
        "health",
        "illness of whoever has it",
        _FELL_ILL,
        (),
        re.compile(rf"{_LESSON.pattern}|原因|为什么|哪些|症状|途径|预防|如何|怎样|[?？]", re.IGNORECASE),
    ),
    Rule(
        "address",
        "home of whoever lives there",
        re.compile(f"{_HOME.pattern}|{_LIVES.pattern}"),
        (),
        re.compile(r"教室|教学楼|行政楼|实验楼|宾馆|酒店|公司|考场|考点|会议室|实验室|办公|学校|博物馆|图书馆|展厅|中学|小学|大学"),
        needs=_NUMERAL,
    ),
    Rule(
        "address",
        "where somebody lives",
        _ADDRESS,
        (
            PERSON,
            re.compile(
                r"家庭?(?:住址|地址)|(?:家长|学生|家庭)的?(?:住址|地址)|住址|家长|我家|我住|[Hh]ome address|[Mm]y address|\b(?:I|"
                r"[Ww]e) (?:live|moved)\b|"
                r"\bfamily\b|\bher home|\bhis home"
            ),
        ),
        needs=_NUMERAL,
    ),
    Rule("family", "family matter outside a lesson", _FAMILY, (), _TOPIC),
    Rule(
        "family",
        "family of somebody",
        _FAMILY,
        (
            PERSON,
            re.compile(
                r"家里|家中|该家庭|该户|人均|[一他她]家|我(?:正|老|爸|妈|家|丈|妻|离)|\b[Mm]y husband|\b[Mm]y wife|\bI(?: am|'m|"
                r" was)\b|\b[Tt]he family\b|同学[:,]"
            ),
            GROUP,
        ),
        _LESSON,
    ),
)
