/** Pairs whose sides answer differently, `one/other`. A group of synonyms never has both. */
export const OPPOSITES = `
above/below accept/reject acid/alkali actor/actress acute/chronic acute/obtuse add/remove add/subtract
adjacent/distant admit/deny advance/retreat advantage/disadvantage affirm/deny alive/dead all/none allow/block
allow/deny allow/forbid allowlist/denylist always/never am/pm amateur/professional analog/digital ancestor/descendant
ancient/modern anode/cathode antonym/synonym appear/disappear approve/reject arrest/release arrival/departure
arrive/depart ascend/descend ascending/descending asleep/awake asset/liability attach/detach attack/defend
attract/repel author/reader authorize/prohibit back/front backward/forward bad/good bear/bull bearish/bullish
beautiful/ugly before/after begin/end beginning/end benefit/drawback benefit/risk benign/malignant best/worst
better/worse bid/ask big/small bind/unbind birth/death bitter/sweet black/white bless/curse block/unblock
boiling/freezing bold/timid boom/bust borrow/lend boss/employee bottom/top bound/unbound boy/girl brave/cowardly
breakfast/dinner bride/groom bright/dark bring/take broad/narrow brother/sister build/destroy busy/idle buy/sell
buyer/seller cache/uncache calm/nervous captain/crew capture/release cause/prevent ceiling/floor
centralized/decentralized certain/uncertain cheap/expensive check/uncheck child/adult clean/dirty clear/cloudy
client-side/server-side clockwise/counterclockwise close/far cold/hot collapse/expand combine/separate come/go
comfort/discomfort commit/rollback common/rare compile-time/runtime compile/decompile complete/incomplete
complex/simple complicated/simple compress/decompress compress/extract confirm/cancel connect/disconnect
consumer/producer contract/expand convex/concave cooked/raw cool/warm correct/incorrect courage/fear create/delete
create/destroy credit/debit cry/laugh customer/vendor damage/repair danger/safety dangerous/safe dawn/dusk day/night
decode/encode decrease/increase decrement/increment decrypt/encrypt deep/shallow defeat/victory defence/attack
deflate/inflate demand/supply deny/grant deploy/undeploy deposit/withdraw die/live difficult/easy dim/bright
disagree/agree discourage/encourage divide/multiply doctor/patient domestic/foreign down/up downgrade/upgrade
download/upload downstairs/upstairs downstream/upstream drop/raise dry/wet dull/sharp early/late east/west
eastern/western employ/dismiss employer/employee empty/full enable/disable encourage/deter enemy/friend enlarge/reduce
enter/exit entrance/exit even/odd exclude/include exclusive/inclusive expire/renew explicit/implicit exterior/interior
external/internal extrovert/introvert fact/fiction fail/pass fail/succeed failure/success false/true famous/unknown
fast/slow fat/lean fat/thin father/mother female/male fertile/barren few/many find/lose finish/start finite/infinite
first/last fix/break fixed/floating fixed/variable flexible/rigid float/sink follow/lead forget/remember forgive/blame
formal/informal freeze/thaw freeze/unfreeze frequent/rare fresh/stale friendly/hostile frontend/backend frozen/melted
full-time/part-time future/past gain/lose gain/loss generous/stingy gentle/rough gentleman/lady get/post get/set
give/take good/evil grant/revoke greater/less greater/smaller gross/net grow/shrink guest/host guilty/innocent
happy/sad hard/soft hardware/software harmful/harmless hate/love he/she head/tail healthy/sick heating/cooling
heaven/hell heavy/light height/depth help/hinder hero/villain hide/show high/low higher/lower highest/lowest him/her
hire/fire his/her hit/miss hold/release homogeneous/heterogeneous horizontal/vertical host/client hot/cold huge/tiny
husband/wife hyper/hypo hypertension/hypotension implicit/explicit import/export import/exported in/out
inbound/outbound income/expense indoor/outdoor indoors/outdoors inductive/deductive infected/healthy inferior/superior
ingress/egress inhale/exhale inner/outer input/output insert/remove inside/outside install/uninstall
intentional/accidental interesting/boring introduce/conclude introduction/conclusion join/leave join/split
junior/senior keep/discard keep/discontinue king/queen known/unknown land/sea landlord/tenant large/small
largest/smallest last/next later/earlier later/sooner laugh/cry lazy/diligent lead/follow left/right legal/illegal
lend/borrow lender/borrower lengthen/shorten lenient/strict less/greater linear/nonlinear liquid/solid
literal/figurative load/unload local/global local/remote lock/unlock locked/unlocked logical/illogical login/logout
long-term/short-term long/short longer/shorter longest/shortest loose/tight lose/win loser/winner loss/profit
lossless/lossy loud/quiet low/high loyal/disloyal lucky/unlucky lunch/dinner major/minor majority/minority man/woman
mandatory/optional married/single marry/divorce mature/immature maximize/minimize melting/freezing men/women
merge/split mild/severe min/max minimum/maximum mom/dad monday/friday more/less morning/evening mount/unmount
moving/still multiplication/division mutable/immutable mute/unmute natural/artificial near/far negative/positive
nephew/niece never/ever new/old newest/oldest night/morning noisy/quiet nominal/real noon/midnight normal/abnormal
north/south northern/southern notice/ignore now/then numerator/denominator obey/disobey offer/refuse offline/online
often/rarely often/seldom old/young older/younger oldest/youngest on/off opaque/transparent open/close open/shut
opened/closed opposite/same optimist/pessimist ordered/unordered ordinary/special own/rent pack/unpack parent/child
partial/complete pass/fail passive/active past/present patient/impatient pause/resume peace/war perfect/imperfect
permanent/temporary permit/forbid pin/unpin plain/fancy plaintiff/defendant plural/singular plus/minus polite/rude
poor/rich pop/push positive/negative possible/impossible powerful/weak praise/blame praise/criticize pre-tax/after-tax
precede/follow predator/prey predator/victim predecessor/successor prefix/suffix preorder/postorder present/absent
previous/next prince/princess private/public probable/improbable prod/dev producer/consumer profit/loss promote/demote
pros/cons proton/electron proud/ashamed publish/unpublish pull/push pure/impure qualitative/quantitative
question/answer quickly/slowly raise/lower random/ordered read/write readable/writable real/fake real/imaginary
receive/send receiver/sender reduce/increase register/unregister regular/irregular reject/accept relative/absolute
relaxed/tense reliable/unreliable remember/forget remove/insert rent/buy repair/break reply/ask request/response
resist/yield resolve/reopen restrict/loosen reward/punish reward/punishment rise/fall rising/falling rough/smooth
rural/urban sane/insane save/delete save/discard save/spend scarce/abundant secure/insecure seller/buyer
separate/together serious/funny server/client shallow/deep sharp/blunt show/hide shrink/expand sign/unsign
signed/unsigned silence/noise simple/complex sit/stand skilled/unskilled sleep/wake slow/quick slower/faster small/big
smaller/larger smart/stupid smile/frown sober/drunk some/none son/daughter sour/sweet source/destination source/target
speed/slow spend/earn spring/autumn stable/unstable stack/queue start/end start/stop stateful/stateless static/dynamic
stop/continue stop/go straight/crooked straight/curved strength/weakness stretch/shrink strong/weak
subscribe/unsubscribe subtraction/addition succeed/fail summer/winter sunny/rainy sunrise/sunset superset/subset
support/oppose surface/depth surplus/deficit swallow/spit symmetric/asymmetric sync/async synchronous/asynchronous
tall/short teach/learn teacher/student temporary/permanent thaw/freeze thick/thin thicker/thinner tie/untie
tight/loose top/bottom toxic/harmless trainer/trainee trust/distrust truth/lie turn-on/turn-off ugly/pretty uncle/aunt
unite/divide upper/lower uppercase/lowercase upside/downside upstream/downstream useful/useless user/admin
vacant/occupied vague/clear valid/invalid valley/mountain vegan/omnivore vegetarian/carnivore verbose/quiet
vertical/horizontal violent/peaceful visible/invisible voluntary/compulsory vowel/consonant wake/sleep warm/cool
warming/cooling waste/save wax/wane weaken/strengthen wealth/poverty wealthy/poor weekday/weekend west/east wet/dry
whitelist/blacklist whole/part wide/narrow wider/narrower wild/tame win/lose winner/loser wired/wireless wisdom/folly
with/without within/outside worse/better worsen/improve worst/best wrap/unwrap wrong/right yes/no yesterday/tomorrow
young/old zenith/nadir zip/unzip
`
