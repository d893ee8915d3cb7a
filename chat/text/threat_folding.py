"""Views of a text for the threat scan: what stands there invisibly, and what a reader takes the characters for.

The stored text is never changed. `folded` has no invisible characters, is in NFKC, without case, with look-alikes as Latin letters and
traditional characters as simplified ones; `tight` is that without what stands between Chinese characters, and with spelled-out
words joined. In `plain` look-alike letters are blotted out, to tell what only they make readable.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from chat.text.features import CJK

_BLOT: Final = "\ufffd"

# --- What is invisible. ---

_INVISIBLE: Final = re.compile(
    "[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,10}\U000e007f")
_EMOJI: Final = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001fbff]"
)
_SKIN_AND_STYLE: Final = frozenset("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
# Scripts in which joiners shape letters: Arabic, Syriac, the Indic scripts, Myanmar, Khmer, Mongolian.
_JOINED: Final = re.compile("[\u0600-\u07bf\u0840-\u0dff\u0f00-\u109f\u1780-\u18af\ua8e0-\ua8ff\ufb50-\ufdff\ufe70-\ufefc]")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def has_invisible(text: str) -> bool:
    """Whether a character is there that nobody sees, but for those that emoji and some scripts are written with."""
    if text.isascii() or not _INVISIBLE.search(text):
        return False
    text = _FLAG.sub("", text)
    return any(not _is_allowed(text, match.start()) for match in _INVISIBLE.finditer(text))


def _is_allowed(text: str, place: int) -> bool:
    char, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if char == "\ufeff":
        return place == 0
    if "\ufe00" <= char <= "\ufe0f":
        return _may_vary(before, after)
    if char in "\u200c\u200d" and _JOINED.match(before) and _JOINED.match(after):
        return True
    if char == "\u200d":
        start = place - 1
        while start >= 0 and place - start < 4 and text[start] in _SKIN_AND_STYLE:
            start -= 1
        return bool(start >= 0 and _EMOJI.match(text[start]) and _EMOJI.match(after))
    if char in "\u061c\u200e\u200f":
        return bool(_RIGHT_TO_LEFT.search(text[max(0, place - 40) : place].replace("\u061c", "") + text[place + 1 : place + 40]))
    return "\u180b" <= char <= "\u180e" and "\u1800" <= before <= "\u18af"


def _may_vary(before: str, after: str) -> bool:
    """Whether a variation selector may stand there: behind a symbol, a figure of a keycap, or a Chinese character."""
    if not before:
        return False
    if before in "0123456789#*":
        return after == "\u20e3"
    return bool(_EMOJI.match(before)) or unicodedata.category(before)[0] in "SP" or before >= "\u2e80" or before in "\u200d\u20e3"


# --- What looks like something else. ---

_CONFUSABLE: Final = {
    **dict(
        zip(
            "abcdefghijklmnopqrstuvwxyz",
            [
                *("аαɑᴀ", "вβьᏏʙ", "сϲᴄⅽ", "ԁɗᴅ", "еεҽєᴇ", "ғϝꞙ", "ɡցɢ", "һнʜհ", "іιıɪӏї", "јϳʝᴊ", "кκᴋ", "ⅼʟ", "мᴍ"),
                *("ոηпɴ", "оοσөᴏօ", "рρᴘ", "ԛգ", "гʀᴦ", "ѕꜱ", "тτᴛ", "υսцᴜ", "νѵᴠ", "ѡԝωшᴡ", "хχ", "уүγʏ", "ᴢʐ"),
            ],
            strict=True,
        )
    ),
}
_RADICALS: Final = ("⺠⺟⻁⻄⻅⻆⻉⻋⻓⻔⻘⻚⻛⻜⻝⻢⻣⻤⻥⻦⻨⻩⻬⻮⻰⻳", "民母虎西见角贝车长门青页风飞食马骨鬼鱼鸟麦黄齐齿龙龟")
# Traditional and simplified, in pairs: the characters that patterns are made of and what stands around them.
_TRADITIONAL: Final = (
    "憶忆 與与 為为 個个 們们 這这 對对 說说 無无 視视 係系 統统 級级 戶户 獲获 權权 開开 發发 請请 將将 寫写 讀读 號号 碼码 鑰钥 "
    "檔档 導导 傳传 遞递 輸输 輯辑 遠远 執执 從从 後后 時时 間间 關关 閉闭 隱隐 瞞瞒 騙骗 許许 審审 覈核 設设 規规 則则 顯显 條条 "
    "讓让 應应 該该 記记 錄录 誌志 題题 問问 復复 複复 製制 貼贴 聽听 話话 誰谁 還还 進进 過过 選选 擇择 確确 認认 總总 結结 給给 "
    "學学 師师 長长 門门 頁页 頭头 風风 飛飞 東东 車车 貝贝 見见 專专 業业 書书 畫画 員员 單单 雙双 網网 絡络 絕绝 經经 續续 繼继 "
    "維维 緩缓 編编 轉转 輪轮 軟软 載载 輔辅 邏逻 達达 違违 連连 遺遗 適适 郵邮 鄰邻 釋释 鍵键 鎖锁 鏈链 鏡镜 閱阅 陳陈 陰阴 隨随 "
    "險险 雖虽 難难 電电 響响 頂顶 項项 順顺 須须 預预 領领 頻频 類类 願愿 顧顾 驗验 驚惊 體体 點点 黨党 齊齐 齡龄 龍龙 亂乱 產产 "
    "僅仅 價价 優优 兒儿 內内 兩两 冊册 凍冻 劃划 劇剧 動动 務务 勝胜 勞劳 勢势 區区 協协 卻却 參参 變变 嗎吗 啟启 嘗尝 國国 圍围 "
    "圖图 團团 報报 場场 壞坏 塊块 壓压 奪夺 奮奋 婦妇 實实 寧宁 屬属 嶺岭 幣币 幫帮 幹干 幾几 廠厂 廢废 廣广 彈弹 強强 當当 彙汇 "
    "彎弯 徵征 徹彻 態态 懷怀 戰战 戲戏 擁拥 擔担 據据 擴扩 擺摆 損损 撥拨 換换 敗败 敵敌 數数 斷断 樣样 標标 機机 檢检 歡欢 歷历 "
    "歸归 殘残 殺杀 氣气 決决 沒没 況况 減减 測测 準准 滅灭 滿满 潛潜 災灾 狀状 獨独 獎奖 現现 環环 畢毕 異异 盜盗 監监 盤盘 禮礼 "
    "種种 積积 稱称 窮穷 競竞 筆笔 節节 範范 築筑 簡简 簽签 籤签 籠笼 糧粮 紀纪 約约 純纯 細细 終终 組组 綁绑 絲丝 線线 練练 縮缩 "
    "織织 職职 脅胁 腦脑 臨临 舊旧 艱艰 藝艺 藥药 蘭兰 處处 虛虚 術术 裝装 裡里 計计 訂订 討讨 訊讯 託托 訪访 訴诉 診诊 註注 試试 "
    "詳详 誠诚 誤误 調调 課课 談谈 論论 諾诺 謊谎 證证 識识 議议 護护 讚赞 負负 財财 責责 貨货 質质 費费 資资 賴赖 購购 賽赛 趕赶 "
    "軌轨 較较 輕轻 辦办 農农 邊边 醫医 針针 錯错 鎮镇 閒闲 隊队 階阶 際际 離离 雲云 靜静 額额 顛颠 飾饰 館馆 驅驱 魚鱼 鮮鲜 鳥鸟 "
    "麗丽 麥麦 黃黄 喚唤 繞绕 騖骛 偽伪 銷销 毀毁 竊窃 潰溃 慮虑 讎仇 嚮向 臺台 臟脏 彆别 衝冲 鍾钟 闆板 閤合 麵面 麼么 廳厅 啓启 "
    "脫脱 擋挡 瀏浏 覽览 夾夹 憑凭 餘余 劑剂 勵励 譯译 爲为 裏里 妳你 祕秘 衆众 佈布 採采 縱纵 擾扰 擬拟 礙碍 擱搁 棄弃 拋抛 濾滤 "
    "聯联 錢钱 賬账 帳账 並并 併并 迴回 鈕钮 誘诱 訓训 詞词 語语 擊击 殼壳 屆届 儲储 備备 掛挂 嚴严 絶绝 勸劝 僞伪 掃扫 蹤踪 跡迹 "
    "誡诫 鬆松 縛缚 獄狱 夥伙 夠够 歲岁 買买 賣卖 閘闸 饋馈 軍军 蓋盖 爾尔 倉仓 創创 剛刚 別别 叢丛 吳吴 噴喷 園园 墊垫 墳坟 夢梦 "
    "尋寻 屜屉 巔巅 帶带 廬庐 愛爱 戀恋 揮挥 搶抢 擠挤 攔拦 攝摄 敘叙 曉晓 棟栋 榮荣 樓楼 橋桥 歐欧 漢汉 潔洁 濟济 獵猎 瑪玛 療疗 "
    "癥症 盡尽 眾众 禍祸 穩稳 綜综 縣县 繳缴 聞闻 膽胆 莊庄 蘋苹 覺觉 觸触 諧谐 賓宾 踐践 轟轰 遲迟 釣钓 鈴铃 銀银 鑑鉴 闡阐 韓韩 "
    "顆颗 騷骚 丟丢 來来 倫伦 偵侦 刪删 劉刘 匯汇 囑嘱 寶宝 屍尸 層层 庫库 張张 徑径 惡恶 憚惮 掙挣 於于 會会 楊杨 欄栏 洩泄 礦矿 "
    "紅红 納纳 紹绍 績绩 羣群 義义 習习 聲声 腳脚 舉举 萬万 補补 評评 詢询 誦诵 説说 講讲 賦赋 趙赵 運运 釘钉 雞鸡 馬马 駕驾 驟骤 "
    "樹树 聰聪 輩辈 廚厨 彥彦 鹽盐 廁厕 鬧闹 靈灵 慶庆 餵喂 簾帘"
)
_BRACKETS: Final = {"[": "【〖〚⟦❲〔⦗", "]": "】〗〛⟧❳〕⦘", "<": "«‹〈⟨❮⟪≪", ">": "»›〉⟩❯⟫≫", '"': "“”„「」『』", "'": "‘’`´", "|": "∣│┃"}
_SPELLED: Final = {ord(other): plain for plain, others in _BRACKETS.items() for other in others} | {
    ord(pair[0]): pair[1] for pair in _TRADITIONAL.split()
}
_LATIN: Final = {ord(other): letter for letter, others in _CONFUSABLE.items() for other in others}
_LOOKALIKE_LETTERS: Final = "".join(map(chr, _LATIN))
_MIXED_WORD: Final = re.compile(r"[^\W\d_\u2e80-\uffff]*[" + re.escape(_LOOKALIKE_LETTERS) + r"][^\W\d_\u2e80-\uffff]*")
_HANGUL_AND_BLANKS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u00ad\u034f")


class _Folding(dict[int, str]):
    """The folded form of a code point; look-alike letters of other alphabets only by `_fold_words`.

    With `is_blotted`, letters and characters that NFKC makes of other forms are a blot instead.
    """

    def __init__(self, *, is_blotted: bool) -> None:
        super().__init__()
        self._is_blotted = is_blotted

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if char in "\n\t ":
            folded = " " if char == "\t" else char
        elif char == "；":
            folded = "。"  # the half-width one stands in code, and does not end a sentence
        elif char in "\r\v\f\x85\u2028\u2029":
            folded = "\n"
        elif kind in ("Cf", "Cc", "Me") or char in _HANGUL_AND_BLANKS or "\ufe00" <= char <= "\ufe0f" or 0xE0000 <= code <= 0xE0FFF:
            folded = ""
        else:
            folded = self._letters(char)
        self[code] = folded
        return folded

    def _letters(self, char: str) -> str:
        radical = _RADICALS[0].find(char)
        plain = _RADICALS[1][radical] if radical >= 0 else unicodedata.normalize("NFKC", char)
        if self._is_blotted and plain != char and any(c.isalpha() for c in plain):
            return _BLOT * len(plain)
        bare = "".join(c for c in unicodedata.normalize("NFD", plain.casefold()) if unicodedata.category(c) not in ("Mn", "Me"))
        return unicodedata.normalize("NFC", bare).translate(_SPELLED)


_FOLDED, _PLAIN = _Folding(is_blotted=False), _Folding(is_blotted=True)


def _fold_words(text: str, *, is_blotted: bool) -> str:
    """Look-alike letters become Latin in words that mix alphabets or consist of look-alikes; a Russian or Greek word stays."""
    if text.isascii() or not text.translate(_NO_ASCII):
        return text

    def folded(match: re.Match[str]) -> str:
        word = match.group()
        latin = word.translate(_LATIN)
        if not latin.isascii():
            return word
        return _BLOT * len(word) if is_blotted else latin

    return _MIXED_WORD.sub(folded, text)


_NO_ASCII: Final = dict.fromkeys(range(128))

# --- What is pulled apart. ---

_CHAR: Final = f"[{CJK}]"
_BETWEEN: Final = re.compile(rf"(?<={_CHAR})(?P<gap>[^\w{CJK}]{{1,3}})(?={_CHAR})")
_ISLANDS: Final = re.compile(rf"{_CHAR}(?:[^\w{CJK}]{{1,3}}{_CHAR}(?![\w{CJK}]))+")
_SPELLED_WORD: Final = re.compile(r"(?<![a-z0-9])[a-z](?:[ ._*·|/\\~+-]{1,4}[a-z](?![a-z])){3,}")
_LONG_WORD: Final = re.compile(r"[a-z]{13,}|[a-z]+(?:[_-][a-z]+){2,}")
_LEET: Final = re.compile(
    r"(?<![a-z0-9@$./:=_-])(?=[a-z0-9@$!|]{0,24}[a-z])(?=[a-z0-9@$!|]{0,24}[0134578@$])"
    r"[a-z0134578@$!|]{3,24}(?![a-z0-9@/=_-])"
)
_FIGURES: Final = (str.maketrans("0134578@$!|", "oleastbasil"), str.maketrans("0134578@$!|", "oieastbasii"))
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|lt|gt|amp|quot);", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Views:
    """`folded`, and the further views that differ from it; those of `disguised` are readable only by guessing."""

    folded: str
    tight: tuple[str, ...]
    disguised: tuple[str, ...]


def views_of(text: str, words: re.Pattern[str], pairs: frozenset[str]) -> Views:
    """The views of `text`. `words` and `pairs` are what is looked for: words that may be run together, neighbouring characters."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    folded = _fold_words(text.translate(_FOLDED), is_blotted=False)
    tight = _tight(folded, pairs)
    spelled = _LONG_WORD.sub(lambda m: _split(m, words), _SPELLED_WORD.sub(lambda m: _split(m, words), tight))
    others = tuple(dict.fromkeys(one for one in (tight, spelled) if one != folded))
    return Views(folded, others, tuple(_unmasked(folded, words)))


def plain_of(text: str) -> str:
    """`folded`, with blots where only look-alikes make letters."""
    return _fold_words(text.translate(_PLAIN), is_blotted=True)


def _tight(folded: str, pairs: frozenset[str]) -> str:
    """Without what stands between Chinese characters: blanks and line ends anywhere, other signs only within what is pulled apart."""
    joined = _ISLANDS.sub(lambda match: re.sub(rf"[^\w{CJK}]", "", match.group()), folded)

    def without(match: re.Match[str]) -> str:
        start, end = match.span()
        if not match["gap"].strip() or joined[start - 1] + joined[end] in pairs:
            return ""
        return match["gap"]

    return _BETWEEN.sub(without, joined)


def _split(match: re.Match[str], words: re.Pattern[str]) -> str:
    """Words that were spelled out or run together, apart again as far as they are among `words`."""
    return f" {words.sub(lambda found: f' {found.group()} ', re.sub(r'[^a-z]', '', match.group()))} "


def _unmasked(folded: str, words: re.Pattern[str]) -> Iterator[str]:
    """The text with figures read as the letters that they look like; a 1 is what makes one of the words."""
    if _LEET.search(folded):

        def read(match: re.Match[str]) -> str:
            readings = [match.group().translate(figures) for figures in _FIGURES]
            return next((one for one in readings if words.fullmatch(one)), readings[1])

        yield _LEET.sub(read, folded)
