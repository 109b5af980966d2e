/**
 * Words that may take each other's place: groups between `|`, in their base form. A word is in one group only. Groups
 * are tight: a word that is merely near is left out, because a group means the same answer.
 */
export const SYNONYMS = `
delete remove erase deletion removal|begin start commence initiate|finish complete|stop halt cease|buy purchase
|fix repair mend|build construct|create make generate produce creation|write compose author|show display|find locate
|choose select pick|big large|huge enormous giant gigantic immense massive colossal|small little|tiny minuscule
|fast quick rapid speedy swift|quickly rapidly swiftly|slow sluggish
|simple easy straightforward uncomplicated effortless|hard difficult tough challenging
|important significant crucial essential vital|main primary principal chief|error fault mistake|bug defect
|problem issue trouble difficulty|reply respond response|job occupation profession|car automobile auto|bicycle bike
|motorcycle motorbike|movie film|tv television telly|phone telephone|cellphone smartphone mobile|photo photograph
|picture image pic|lawyer attorney|doctor physician|kid child|infant baby newborn|toddler toddling
|teenager teen adolescent|adult grown-up|elderly aged|person individual human|people persons folks|man guy|woman lady
|mom mother mum mommy mummy|dad father daddy|grandma grandmother granny|grandpa grandfather grandad|house home
|apartment flat|sofa couch|store shop|supermarket grocery|garbage trash rubbish|vacation holiday|trip journey
|elevator lift|sidewalk pavement|gasoline petrol|truck lorry|soccer football|cookie biscuit|candy sweets|diaper nappy
|eggplant aubergine|zucchini courgette|cilantro coriander|math mathematics maths|exam examination|homework assignment
|college university uni|teacher instructor|student pupil|company firm business corporation enterprise|boss manager
|employee worker staff|coworker colleague|salary wage|money cash|cost price|cheap inexpensive affordable
|expensive costly pricey|gratis complimentary|rich wealthy affluent|poor impoverished|happy glad joyful cheerful
|sad unhappy sorrowful|angry furious|afraid scared frightened|tired exhausted weary|smart intelligent clever
|stupid dumb foolish|funny humorous amusing comical|beautiful pretty lovely gorgeous|ugly unattractive
|strange weird odd unusual peculiar|normal ordinary|common widespread|famous renowned celebrated well-known
|correct right accurate|wrong incorrect inaccurate|true genuine|fake counterfeit|false untrue|entire whole|total sum
|many numerous|enough sufficient adequate|almost nearly|about approximately roughly circa
|usually typically normally generally|often frequently|rarely seldom|immediately instantly|currently presently
|eventually ultimately|suddenly abruptly|also additionally|but however|therefore thus hence|help assist aid assistance
|try attempt|use utilize utilise|get obtain acquire|want desire|need require necessitate|hate detest loathe
|think believe|understand comprehend grasp|explain clarify elucidate explanation|describe depict description
|tell inform|ask inquire enquire|teach educate|remember recall recollect|see view|hear listen|speak talk
|shout yell scream|cry weep|laugh giggle|walk stroll|jump leap|throw toss|catch capture|hold grip|carry transport
|send transmit dispatch|give provide supply|take grab|keep retain|move relocate|change modify alter
|improve enhance improvement enhancement|increase raise boost|decrease reduce lower lessen diminish|enlarge magnify
|shrink shorten|extend lengthen prolong|expand broaden widen|combine merge|join unite|mix blend|add append
|insert inject|replace substitute|swap exchange|convert transform conversion|copy duplicate replicate|rename retitle
|edit revise|compare contrast comparison|check verify validate validation verification|ensure assure|prevent avert
|avoid evade|allow permit|forbid prohibit ban|enable activate activation|disable deactivate deactivation|run execute
|install setup installation installing|uninstall deinstall|connect link|disconnect unlink|attach affix fasten
|release unleash|gather collect assemble|search seek hunt|discover uncover detect|examine inspect
|investigate probe investigation|analyze analyse analysis|evaluate assess appraise evaluation assessment
|estimate gauge estimation|calculate compute calculation|count tally|measure quantify|solve resolve solution
|decide determine|organize arrange organise|filter sieve|summarize summarise recap condense summary
|translate render translation|rewrite rephrase reword paraphrase|proofread copyedit|highlight emphasize emphasise
|list enumerate|suggest recommend propose recommendation suggestion|advice guidance tip|example instance sample
|reason cause|result outcome consequence|effect impact|benefit advantage upside pro
|drawback disadvantage downside con shortcoming|difference distinction|similarity resemblance likeness
|feature characteristic trait|kind type|method approach technique|way manner|step stage|procedure process
|goal objective aim target|idea concept notion|opinion viewpoint|proof evidence|contract agreement
|meaning definition define|word term|story tale|poem verse|song tune|magazine periodical|email mail e-mail|message msg
|note memo|document doc|documents docs documentation|folder directory|application app|program software
|website site webpage|computer pc|keyboard keypad|screen monitor|database db|repository repo|function func
|parameter param argument|variable var|constant const|integer int|string str|boolean bool|dictionary dict
|configuration config|environment env|development dev develop|production prod|information info|administrator admin
|specification spec|statistics stats|average avg|maximum max highest|minimum min lowest|number num|reference ref
|package pkg|command cmd|password passwd|javascript js|typescript ts|python py|kubernetes k8s|postgresql postgres
|authentication auth|authorization authz|advertisement ad advert|laboratory lab|gymnasium gym|refrigerator fridge
|influenza flu|vegetable veggie|dinner supper|drink beverage|food nourishment|tasty delicious yummy|healthy wholesome
|illness sickness disease|medicine medication drug|cure remedy|treatment therapy|injury wound|pain ache
|headache cephalalgia|workout exercise|sleep slumber|country nation|airport airfield|airplane aeroplane plane
|luggage baggage|tourist traveler traveller|woods woodland|stone rock|animal creature beast|dog canine|cat feline
|horse equine|tree timber|friend pal buddy|enemy foe|neighbor neighbour|guest visitor|customer client|user end-user
|owner proprietor|soldier trooper|invoice bill|refund reimbursement|shipment delivery|shipping freight
|conference convention|interview questioning|resume cv|hire recruit|resign quit|promotion advancement
|schedule timetable|calendar planner|presentation slideshow|spreadsheet worksheet|graph chart|color colour|gray grey
|center centre|theater theatre|favorite favourite|behavior behaviour|neighborhood neighbourhood
|organization organisation|realize realise|recognize recognise|customize customise
|optimize optimise optimization optimisation|apologize apologise|memorize memorise|minimize minimise|maximize maximise
|visualize visualise visualization visualisation|authorize authorise|prioritize prioritise|license licence
|defense defence|offense offence|catalog catalogue|dialog dialogue|traveling travelling|canceled cancelled
|labeled labelled|modeling modelling|jewelry jewellery|tire tyre|aluminum aluminium|mold mould|plow plough
|pajamas pyjamas|mustache moustache|liter litre|meter metre|humor humour|honor honour|labor labour|flavor flavour
|rumor rumour|harbor harbour|postpone delay defer|wait await|arrive reach arrival|leave depart departure|stay remain
|follow pursue|tutorial walkthrough|escape flee|reveal disclose|protect safeguard|dangerous hazardous risky unsafe
|danger hazard|damage harm|destroy demolish|break shatter|peel pare|dirty filthy unclean|dry arid
|quiet silent noiseless|loud noisy|bright luminous|heavy weighty|thin slim slender|fat obese overweight
|strong powerful|weak feeble|brave courageous|cowardly timid|polite courteous|rude impolite discourteous
|honest truthful|lazy idle|diligent hardworking|careful cautious|careless negligent|selfish egoistic
|generous charitable|proud arrogant|humble modest|jealous envious|lonely lonesome|nervous anxious
|calm relaxed peaceful|bored uninterested|interesting fascinating intriguing|exciting thrilling|boring dull tedious
|useful handy helpful|useless worthless|necessary needed|optional voluntary|possible feasible|impossible unfeasible
|likely probable|unlikely improbable|certain sure|doubtful uncertain unsure|obvious evident apparent|unclear vague
|specific particular|different distinct|similar alike|equal identical|modern contemporary|ancient antique
|upcoming forthcoming|annual yearly|daily everyday|permanent lasting|temporary provisional|legal lawful
|illegal unlawful|informal casual|secret hidden|available obtainable|unavailable unobtainable|empty vacant|full filled
|working functional operational|faulty defective|ready prepared|lucky fortunate|unlucky unfortunate|popular well-liked
|unpopular disliked|kill slay|die perish|marry wed|pregnant expecting|birth childbirth|born birthed|childhood youth
|death demise|funeral burial|gift present|prize award|contest competition|winner victor champion|win triumph
|lose misplace|team squad|coach trainer|fan supporter|inventor creator|scientist researcher|iterate traverse
|debug troubleshoot|logging logs|restore recover|reset reinitialize resetting|restart reboot relaunch
|compress zip compression|decompress unzip extract|encrypt encipher encryption|decrypt decipher decryption
|wifi wireless|latency lag|processor cpu|login signin|logout signout|register signup enroll enrol registration
|notification alert|setting preference|option choice|hyperlink url|click press|question query|quiz questionnaire
|survey poll|invent devise|decorate adorn|furniture furnishings|bathroom restroom toilet washroom
|clothes clothing garments apparel attire|sweater jumper pullover|purse handbag|wallet billfold
|glasses spectacles eyeglasses|umbrella parasol|perfume fragrance|haircut hairstyle|smell odor odour scent|noise sound
|cancel cancellation|integrate integration|implement implementation|deploy deployment|migrate migration
|update updating|upgrade upgrading|subscribe subscription|discuss discussion|pay payment|refuse refusal
|approve approval|reject rejection|renew renewal|transfer transferring|terminate termination|automate automation
|normalize normalise normalization normalisation|serialize serialise serialization serialisation
|initialize initialise initialization initialisation|synchronize synchronise synchronization sync|tokenize tokenise
|categorize categorise classify|criticize criticise|specialize specialise|generalize generalise
|standardize standardise|finalize finalise|localize localise|modernize modernise|monetize monetise
|personalize personalise|randomize randomise|stabilize stabilise|symbolize symbolise|sympathize sympathise
|vaporize vaporise|endeavor endeavour|parlor parlour|savor savour|splendor splendour|vigor vigour|armor armour
|candor candour|clamor clamour|glamor glamour|saber sabre|caliber calibre|somber sombre|specter spectre|fulfil fulfill
|skillful skilful|pediatric paediatric|anesthesia anaesthesia|anemia anaemia|leukemia leukaemia|diarrhea diarrhoea
|esophagus oesophagus|estrogen oestrogen|encyclopedia encyclopaedia|maneuver manoeuvre|orthopedic orthopaedic
|pretense pretence|skeptical sceptical|yogurt yoghurt|donut doughnut|whiskey whisky|cozy cosy|analog analogue
|monolog monologue|ax axe|judgment judgement|aging ageing|acknowledgment acknowledgement|toward towards
|afterward afterwards|forward forwards|backward backwards|among amongst|while whilst|learned learnt|burned burnt
|dreamed dreamt|spelled spelt|spilled spilt|gotten got|okay ok alright|versus vs|hello hi hey greetings
|goodbye bye farewell|thanks thank thx ty cheers|please pls plz kindly|january jan|february feb|august aug
|september sept sep|october oct|november nov|december dec|monday mon|tuesday tue tues|wednesday weds
|thursday thu thur thurs|friday fri|assistant helper|astronaut cosmonaut|attendee participant
|beginner novice newbie starter|expert specialist|amateur nonprofessional|professor prof|dentist dds|veterinarian vet
|policeman policewoman|firefighter fireman|mailman postman|salesperson salesman|chairman chairperson chairwoman
|spokesperson spokesman|stewardess steward|programmer coder|technician tech|shareholder stockholder|landlord lessor
|tenant renter lessee|immigrant migrant|ancestor forefather|descendant offspring|sibling siblings|fiance betrothed
|hometown birthplace|abroad overseas|nearby close-by|everywhere all-over|everyone everybody|someone somebody
|anyone anybody|nobody no-one|sometimes occasionally|mostly mainly primarily chiefly largely|especially particularly
|completely entirely totally wholly fully|extremely incredibly exceedingly|precisely exactly|probably presumably
|clearly obviously evidently|apparently seemingly|luckily fortunately|unfortunately sadly regrettably
|correctly properly accurately|easily effortlessly|slowly gradually|carefully cautiously|recently lately
|previously formerly|simultaneously concurrently|manually by-hand|basically essentially|briefly shortly
|worldwide globally internationally|online web-based|offline unplugged|asap urgently|amid amidst
|despite notwithstanding|regarding concerning|besides moreover furthermore|nevertheless nonetheless|otherwise else
|although though albeit|whenever whensoever|perhaps maybe possibly|abundant plentiful copious|scarce sparse
|absurd ridiculous ludicrous|accidental unintentional inadvertent|adjacent neighboring neighbouring adjoining
|advanced sophisticated|aggressive hostile belligerent|appropriate suitable fitting|arbitrary random
|authentic bona-fide|awful terrible horrible dreadful atrocious
|awesome amazing fantastic incredible marvelous marvellous wonderful terrific|attractive appealing|bizarre outlandish
|brief concise succinct|brittle fragile breakable|chaotic disorderly|compulsory mandatory obligatory
|confusing puzzling perplexing bewildering|contagious infectious|crazy insane nuts|crowded packed|curious inquisitive
|deadly lethal fatal|dependable reliable trustworthy|delicate dainty|desperate hopeless|disgusting revolting repulsive
|durable sturdy hardy|eager keen enthusiastic|effective efficacious|elegant graceful|energetic lively vigorous
|enjoyable pleasant pleasurable|excellent outstanding superb exceptional|excessive immoderate|extinct died-out
|faithful loyal|fashionable trendy stylish|flexible pliable bendable|forgetful absent-minded|friendly amiable cordial
|frustrating exasperating|greedy avaricious|harmful detrimental damaging injurious|harmless innocuous
|helpless powerless|hungry famished|hypothetical conjectural|imaginary fictional fictitious|impartial unbiased
|independent autonomous|inevitable unavoidable|infinite endless limitless unlimited|innocent guiltless blameless
|insufficient inadequate|intentional deliberate|irritating annoying bothersome|juicy succulent|lengthy long-winded
|logical rational|magical enchanted|sizable sizeable|mysterious enigmatic|naive gullible|nasty unpleasant
|neat tidy orderly|noticeable perceptible|numb insensible|obedient compliant|outdated obsolete antiquated|painful sore
|perfect flawless impeccable|persistent tenacious|persuasive convincing|pleased delighted|precious valuable
|precise exact|premature untimely|prestigious reputable|profitable lucrative|prosperous thriving|reasonable sensible
|redundant superfluous|relevant pertinent|reluctant unwilling hesitant|responsible accountable|robust resilient
|sacred holy|sarcastic sardonic|scary frightening spooky|shiny glossy|shy bashful|sick ill unwell|sincere heartfelt
|sleepy drowsy|slippery slick|spacious roomy|spicy piquant|spontaneous impromptu|stubborn obstinate|suspicious dubious
|talented gifted|talkative chatty|tasteless bland|thirsty parched|timeless eternal everlasting|tranquil serene
|transparent see-through|unbelievable inconceivable|unique one-of-a-kind|unnecessary needless|upset distressed
|urgent pressing|various diverse assorted|victorious triumphant|vulnerable defenseless defenceless
|wasteful uneconomical|wicked evil|wise sage|worried concerned|worthwhile rewarding|abandon forsake|abuse mistreat
|accelerate hasten|accompany escort|accomplish achieve attain|accumulate amass|acknowledge concede|adapt adjust
|adore cherish|aggravate exacerbate worsen|announce declare proclaim|anticipate expect|argue quarrel bicker
|ascend climb|assign allocate allot|astonish amaze astound|attract lure|beg plead implore|betray double-cross
|boast brag|bother annoy|celebrate commemorate|chew munch|choke suffocate|collapse cave-in|complain grumble
|conquer vanquish|consider contemplate ponder|continue proceed|convince persuade|cooperate collaborate|crave yearn
|crush squash|deceive mislead dupe|dedicate devote|deliver hand-over|deny refute|deserve merit|deteriorate degenerate
|disappear vanish|discourage dissuade|disrupt interrupt|distract divert|dominate overpower|donate contribute
|eliminate eradicate|embarrass humiliate|embrace hug|endure withstand|entertain amuse|exaggerate overstate
|exceed surpass|exclude omit|explode blow-up|fade wane|fascinate captivate|predict foresee|forgive pardon excuse
|glance peek|happen occur|hesitate falter|hinder impede hamper|ignore disregard|imagine envision|imitate mimic
|imply insinuate|infer deduce|infect contaminate|inhabit dwell|inherit come-into|inspire motivate|insult offend
|interpret construe|intervene intercede|invade overrun|isolate segregate|justify vindicate|linger loiter|mock ridicule
|observe watch|mourn grieve|mutter mumble|neglect overlook|negotiate bargain|obey comply|oppose resist|overcome defeat
|overwhelm swamp|participate partake|penetrate pierce|praise commend applaud|preserve conserve|pretend feign
|punish penalize penalise|purify cleanse|rebuild reconstruct|reconcile make-up|rehearse practise practice
|decline turn-down|rely depend|relinquish surrender|renovate refurbish remodel|resemble look-like|reside live
|restrict limit|ruin wreck|scatter disperse|scold reprimand rebuke|scrub scour|shiver tremble|shove push|skip bypass
|snatch seize|steal rob|stimulate arouse|strengthen fortify reinforce|submit hand-in|supervise oversee|suppress quell
|surround encircle|survive outlive|swallow gulp|tease taunt|terrify petrify|threaten menace|torture torment
|underline underscore|vary fluctuate|wander roam|warn caution|whisper murmur|withdraw retract|worship revere
|fiber fibre|paediatrician pediatrician
`
