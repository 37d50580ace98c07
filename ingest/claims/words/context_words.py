"""The words around a claim, by what they say of it: what it rests on, how much it covers, whose it is. Data only, as in `lexicon`."""

from __future__ import annotations

from ingest.claims.words.change_words import words
from schemas.rows.claim import Scope

ESTIMATES = words(
    r"expect(?:ed|s)?\b|should\b|would\b|could\b|theoretical\w*|projected|projection (?:of|is|says)|target(?:s|ing|ed)?\b"
    r"|potential(?:ly)?|estimat\w+|planned|goal|aim(?:s|ing)?\b|(?<!in )(?<!late )(?<!early )(?<!since )may\b(?! ?[\d,])|might\b"
    r"|anticipat\w+|likely|predicted|prediction"
    r"|will\b|possible"
)
"""Words that make a claim one about what is not yet seen."""

MEASURED = words(
    r"(?:micro-?)?benchmark(?:s|ed|ing)?\b|bench(?:es|marks?)?\b|measured|measurements?|measuring|profil(?:ed|er|ing)\b"
    r"|profiles? (?:shows?|says|of)\b|(?:cpu|heap|memory|flame|query) profiles?\b"
    r"|criterion|median|mean of|best of|averaged\b|average (?:of|over)\b|wall[- ](?:clock|time)|timed\b|timings\b|stopwatch"
    r"|interleaved|n ?= ?\d+"
    r"|\d+ (?:runs|samples|iterations|repetitions|repeats|rounds|seeds|boots|requests|trials|reps)\b"
    r"|noise floor|sigma\b|(?:three|five|ten) runs"
    r"|ns/op|allocs/op|(?:load|stress|soak|smoke|perf|contention) test\w*|tested\b|validated|locally|local test"
    r"|on my \w+|on (?:this|the) (?:machine|laptop|box|runner|ci runner)|on an? (?:copy|clone|replay|throttled)"
    r"|\d+ passed\b|cpu \d[\d.:]* total|real\s+\d+m"
    r"|perft\b|test runs?\b|testing against|reproducible|ctc\b|(?:same|similar) scene\b"
    r"|in ci\b|snapshot\b|pytest\b|go test\b|replay\w*|synthetic|simulated|gemessen|mesur[ée]\w*|medid[oa]"
)
"""Words that say how numbers came about."""

_TOOLS = (
    r"hyperfine|wrk\b|pgbench|timeit|nsight|lighthouse|strace|ltrace|perf stat|perf record|explain \(?analyze|heaptrack|valgrind"
    r"|callgrind|massif|sysbench|fio\b|asv\b|k6\b|vegeta|apachebench|`?ab -|hey run|`?hey -|iperf\w*|`?time -v|`?dd (?:if|over)"
    r"|benchstat|pyperf|py-spy|jmh\b|source-map-explorer|bundle-?analyzer|max_memory_allocated|rocprof|nvprof|mprof|memray"
    r"|tracemalloc|pprof|flamegraph|tpc-?\w+|sysstat|vmstat"
)
"""Tools that measure."""

_MACHINES = (
    r"macbook|rtx\b|gtx\b|h100|a100|l4\b|t4\b|v100|(?:apple |on (?:an? )?)m[1-5]\b|m[1-5] (?:pro|max|ultra|mac|air)"
    r"|apple silicon|xeon|epyc|ryzen|threadripper|i[3579]-\d{4}|raspberry|rpi \d|jetson|steam deck|pixel \d|iphone \d|moto g"
    r"|haswell|skylake|tiger ?lake|ice ?lake|alder ?lake|sapphire rapids|zen ?[2-5]\b|graviton|neoverse|cortex-"
    r"|(?:dev|development|work|test) machine|nvme|sata|\d+[- ]cores?\b|[a-z]\d[a-z]?\.\d*x?large"
)
"""Machines that numbers were seen on."""

SEEN_ON = words(_TOOLS, _MACHINES)
"""What numbers were seen with or on, as one alternation: it is looked for beside every claim."""

_COUNTED = (
    r"(?:files|sessions|rows|records|texts|messages|issues|projects|tasks|documents|items|entries|nodes|objects|users|rounds|seeds|steps"
    r"|tokens|levels|observations|events|lines|images|invoices|photos|prompts|vaults?|packages)\b"
)
INPUTS = (
    rf"\b\d[\d,.]*\s?[km]?\+?\s(?:\w+\s)?{_COUNTED}"
    r"|\b\d{2,5}x\d{2,5}\b"
    r"|\b\d+(?:\.\d+)?\s?[kmgt]i?b (?:index|database|db|file|payload|dataset|corpus|archive|observation|repo|chat|log|download)"
    r"|\b\d[\d,.]*[km]?-(?:hour|minute|page|project|session|file|row|line|record|node|observation|token|entry|item|element)\b"
    r"|\bper \d+ ?[kmg]i?b\b|\bat (?:c|concurrency|batch(?: size)?|bs)[ =]\d+"
)
"""Inputs that are named with their size, beside the numbers that were seen on them."""

SCOPES: dict[Scope, str] = {
    Scope.MICRO: words(
        r"micro-?benchmarks?|functions?\b|methods?\b|kernels?\b|operators?\b|loops?\b|per call|ns/op|allocs?/op|b/op"
        r"|dot[- ]product|gemm|matmul\w*|softmax|detection|reads\b|inner|helper|hash ?map|vec\b|deque|bfs|sort(?:ing)?\b"
        r"|lookups?\b|primitive|selector|scans?\b|per parse|cosine|table updates|binary search|flood fill|sieve|increments?\b"
        r"|lock-free|atomics?\b|memcpy|regex\w*|prefilter|simd|avx\w*|/op\b|bisect|histogram|stencils?|hashing|comparisons"
        r"|ecdsa|sha-\d+|scheduler pick|函数|関数"
    ),
    Scope.COMPONENT: words(
        r"quer(?:y|ies)\b|layers?\b|modules?\b|stages?\b|phases?\b|decod\w+|encod\w+|pars(?:er?|ing)\b|import\w*|loading"
        r"|embedd\w+|index\w*|rules?\b|denois\w+|buffer|render\w*|inserts?|batch\w*|serializ\w+|compress\w*|attention"
        r"|vae\b|tokeniz\w+|subsystem|handlers?|database|db\b|api calls|transactions?|logs?\b|sheet|verification|lint\w*|prefill"
        r"|graph|memory per|search(?:es)?\b|initiali[sz]ation|file reading|prompt|actions?\b|step \d|per step|linking|backfill"
        r"|join\b|calls\b|context\b|\bstep\b|passes\b|history|atlas|textures?\b|importer|consumer|producer|sink\b|listener|workers?\b"
        r"|ingest\w*|gc pauses?|lexer|emitter|planner|codec|thumbnail\w*|migrations?\b|wal\b|handshake|hydration|simplification"
        r"|查询|数据库|缓存|模块|解析|クエリ|キャッシュ"
        r"|upload\w*|package import|translation|enrichment|first-chunk|code size|undo"
    ),
    Scope.END_TO_END: words(
        r"total|builds?\b|start-?ups?\b|pages?\b|requests?\b|commands?\b|test suites?|suites?\b|tests?\b|ci\b|pipelines?\b"
        r"|training|generation|end-to-end|e2e|overall|inference|servers?\b|responses?\b|cold[- ](?:starts?|open)"
        r"|wall[- ](?:clock|time)|run ?time|full|cli\b|app\b|throughput|install\w*|deploy\w*|regression|installation|bundle|peak"
        r"|apks?\b|/step|step time|type[- ]?check\w*|datasets?|cpu time|eval\b|sync time|latency|script|files with|reload|fps\b"
        r"|html|archives?\b|shutdown|tests? execution|packages?\b|pkg\b|serial|blocking|loads?\b|save file|opening|solve time"
        r"|tok/s|language server|workspace|per (?:review|document|page)|bills?\b|freeze\w*|initial js|vendor chunk|route changes"
        r"|first byte|vram|checkout|listing page|响应|延迟|吞吐|页面|启动|构建|起動|ビルド|レスポンス"
    ),
}
"""How much of the software the words around a number cover."""

WHOLE = words(
    r"p50|p9[059]|total\b|rss\b|lcp\b|boots?\b|ttft|tpot|epochs?\b|ticks\b|login|overall|end-to-end|e2e\b|wall[- ](?:clock|time)"
    r"|test suite|full suite|cold[- ](?:start|open)|start-?up time|build time|page load|cpu time|/step\b|ms/step|runtime\b"
    r"|peak|cli\b|startup|test execution|step time|\| (?:mean|avg|average|median)\b"
)
"""Words that speak of the whole even where a part is named beside them."""

CITED = words(
    r"according to (?:the|its|their|upstream|vendor)|advertis\w+|vendor(?:'s)? (?:says|claims|numbers|docs|pricing)|official(?:ly)?"
    r"|published|papers?\b"
    r"|claims? (?:to|that)|docs (?:say|promise)|documented as|upstream\b|per the (?:docs|readme)|reported by|reports?\b"
    r"|known to be|release notes|changelog|authors\b|blog post|readme (?:says|claims|promises)"
    r"|their (?:benchmarks?|numbers|docs)"
)
"""Words by which somebody else's number is quoted."""

SWITCH = words(r"switch(?:e[sd]|ing)?|migrat\w+|mov(?:e[sd]?|ing)|upgrad\w+|adopt\w*|replac(?:e[sd]?|ing) \S+ with|us(?:e|es|ing)")
"""Words for taking up somebody else's work."""
