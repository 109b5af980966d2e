/** Irregular forms, `form base`; a past tense or participle has `*` before its base. */
export const FORMS = `
went *go gone *go came *come ran *run began *begin begun *begin broke *break broken *break brought *bring built *build
bought *buy caught *catch chose *choose chosen *choose cut cut dealt *deal drew *draw drawn *draw drank *drink drunk
*drink drove *drive driven *drive ate *eat eaten *eat fell *fall fallen *fall felt *feel fought *fight found *find
flew *fly flown *fly forgot *forget forgotten *forget forgave *forgive froze *freeze frozen *freeze gave *give given
*give grew *grow grown *grow heard *hear hid *hide hidden *hide held *hold kept *keep knew *know known *know led *lead
lent *lend lost *lose made *make meant *mean met *meet paid *pay rode *ride ridden *ride rang *ring rose *rise risen
*rise said *say saw *see seen *see sold *sell sent *send shook *shake shaken *shake shone *shine shot *shoot showed
*show shown *show sang *sing sung *sing sank *sink sunk *sink sat *sit slept *sleep spoke *speak spoken *speak spent
*spend stood *stand stole *steal stolen *steal stuck *stick swam *swim swum *swim swore *swear swept *sweep took *take
taken *take taught *teach tore *tear torn *tear thought *think threw *throw thrown *throw understood *understand woke
*wake woken *wake wore *wear worn *wear won *win wrote *write written *write bit bit bent *bend bled *bleed blew *blow
blown *blow bred *breed dug *dig fed *feed fled *flee hung *hang hurt hurt laid *lay lit *light overcame *overcome
overrode *override overridden *override proven *prove rebuilt *rebuild reran *rerun rewrote *rewrite rewritten
*rewrite sought *seek shrank *shrink shrunk *shrink slid *slide spun *spin sprang *spring struck *strike undid *undo
undone *undo upheld *uphold wept *weep withdrew *withdraw withdrawn *withdraw wound wound became *become beat beat
beaten *beat bound *bind crept *creep dreamt *dream dwelt *dwell learnt *learn burnt *burn spelt *spell spilt *spill
leapt *leap children child men man women woman mice mouse feet ft teeth tooth geese goose oxen ox people people lives
life knives knife wives wife leaves leaf halves half wolves wolf shelves shelf loaves loaf thieves thief selves self
criteria criterion phenomena phenomenon analyses analysis crises crisis bases base hypotheses hypothesis theses thesis
diagnoses diagnosis indices index matrices matrix vertices vertex axes axis appendices appendix bacteria bacterium
alumni alumnus cacti cactus fungi fungus nuclei nucleus stimuli stimulus media medium data data dice die quizzes quiz
buses bus gases gas heroes hero potatoes potato tomatoes tomato echoes echo vetoes veto goes go does do lenses lens
lying lie dying die tying tie running run dying die getting get setting setting putting put cutting cut sitting sit
stopping stop planning plan shopping shop swimming swim beginning beginning
`
/** Short forms with an apostrophe, and without one. The parts behind `n't` and `'s` are found by rule. */
export const CONTRACTIONS = `
can't=can not|cannot=can not|won't=will not|shan't=shall not|ain't=is not|let's=let us|y'all=you|'em=them|dont=do not
|doesnt=does not|didnt=did not|cant=can not|wont=will not|isnt=is not|arent=are not|wasnt=was not|werent=were not
|couldnt=could not|wouldnt=would not|shouldnt=should not|hasnt=has not|havent=have not|hadnt=had not|mustnt=must not
|whats=what is|thats=that is|hows=how is|wheres=where is|whos=who is|whens=when is|whys=why is|theres=there is
|heres=here is|im=i am|ive=i have|id=id|youre=you are|youve=you have|theyre=they are|theyve=they have|weve=we have
|gonna=going to|wanna=want to|gotta=have to|hafta=have to|gimme=give me|lemme=let me|dunno=do not know|u=you|ur=your
|r=are|w/=with|w/o=without|b/c=because|bc=because|cuz=because|coz=because|thru=through|tho=though|whatre=what are
|whatd=what did|howd=how did|itll=it will|youll=you will|howto=how to|alot=a lot
`
/** Words whose `'s` is "is". */
export const IS_AFTER = `what that it he she where who how there here when why which everything something nothing this`
/** Abbreviations that end with a full stop and end no sentence. */
export const ABBREVIATIONS = `e.g i.e etc vs dr mr mrs ms prof st no approx dept inc ltd fig jr sr al cf est max min`
export const MONTHS = `january february march april may june july august september october november december`
export const WEEKDAYS = `monday tuesday wednesday thursday friday saturday sunday`
export const NUMBER_WORDS = `
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
`
export const TENS = `thirty forty fifty sixty seventy eighty ninety hundred`
export const ORDINALS = `zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth`
