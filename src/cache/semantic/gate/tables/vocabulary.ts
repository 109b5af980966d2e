/**
 * Common English words in their base form, besides those of the other tables. A form is taken back to its base, and a
 * slip of the pen is put right, only where that leads to a known word. Words that differ by one letter are
 * both here, so that neither is taken for a slip of the other.
 */
export const VOCABULARY = `
ability able abnormal abort about abroad absence absolute abstract academic academy accent accept access accessible
accessory accident accordingly account accounting achieve acid across act action active activity actor actual actually
adapter addition address adjective administration admit adult advance adverb advice advise affair affect affiliate
afford after afternoon again against age agency agent ago agree ahead aim air aisle alarm album alcohol alert algebra
algorithm algorithmic alias alien align alive all allege allergic allergy allocation allowance alloy alone along
alphabet alphabetical already altar alter alternate alternative always ambient ambition ambulance amend amount
amplifier analysis analyst ancestry anchor angel angle animal ankle anniversary annotate another ant antenna
antibiotic anticipate anxiety any anything anywhere apart apologize apology apostrophe appeal appear appearance apple
application apply appointment appreciate apprentice appropriate apricot april arc architect architecture archive area
aren argue argument arm army around arrange array art artery article artificial artist ash aside aspect aspirin asset
assist assume asthma asynchronous athlete atlas atmosphere atom atrium attachment attack attend attendance attention
attitude attract audience audio audit august aunt austere authority autism automatic autumn avalanche aviation avocado
axis baby bachelor back backend background backpack bacon bacteria badge bag baggage bake baker bakery balance balcony
ball ballet balloon ballot bamboo ban banana band bandage bandwidth bank banker bankrupt baptism bar barbecue bare
bargain bark barrel base baseball baseline basement basic basically basil basket basketball bass batch bath battery
battle bay beach bead beam bean bear beat beauty beaver become bed bedtime bee beef beer beetle before beginning
behave behavioral behind believe bell belong below belt bench bend beneath beneficiary benefit berry beside bet
between beyond bias bid bill billing binary bind biography biology bird birthday bit bitcoin bite bitter blacksmith
bladder blade blame blank blanket bleach bleed blend blind blizzard block blockchain blog blood blossom blouse blow
blue blueberry blueprint board boat body boil boiler bold bolt bomb bone bonus book booking bookmark boolean boot
bootstrap border boring borrow botany bother bottle bottom bounce boundary bow bowl box boxer boy boyfriend bracket
brain brake branch brand breach bread breadth break breakfast breakpoint breast breath breathe breed breeze brew brick
bride bridge brief brightness bring broad broadcast broccoli brochure broken broker bronchitis bronze broom broth
brown browse browser bruise brush bubble bucket budget buffer bug builder building bulb bulk bullet bullion bully
bundle burden burger burn burnout bus bush business busy butter butterfly button bypass byte cabbage cabin cabinet
cable cache cactus cafe caffeine cake calcium calculate calculator calculus calendar call callback camel camera camp
campaign campus can canal canary cancer candidate candle cannon canoe canvas canyon cap capable capacity capital
captain caption car carbohydrate carbon card cardboard cardiac care career cargo carpet carport carrot cartoon carve
case cashier casino cast castle casual cat catalog catalyst category cater catholic cattle causal cave cavity ceiling
cell cellar cement census central centralize cereal ceremony certificate chain chair chalk challenge chamber chance
channel chapter character charge charger charity charm chart chat checklist checkout cheek cheese chef chemical cherry
chess chest chicken childhood chilly chip chocolate choir cholesterol chop chord chore chorus chromosome chronicle
church cigarette cinema cinnamon circle circuit circulation circumstance citation cite citizen citizenship city civil
claim clap clarinet class classic classifier classroom clause claw clay clean cleaner clearance clerk click cliff
climate climb clinic clip cloak clock clone closet closure cloth clothe cloud clover club clue cluster coach coal
coast coat cocktail coconut code coding coefficient coffee cohort coil coin coincide cold collar collateral colleague
collide colony column comb combat combination combustion comedy comet comic coming comma commence comment comments
commerce commission commit committee commodity communicate communication community commute compact companion
comparison compass compatible compete competence competitor compile compiler complain complaint complement completely
complex compliance compliment component composition compost compound comprehensive comprise compromise conceal
conceive concentrate concern concert conclude conclusion concrete condition conduct conductor cone confess confession
confidence configuration configure confirm conflict confront confuse congestion congress conjunction connection
conscience conscious consent considerable consist console consonant constitution constraint consult consultant
consumer contact container contamination content context continent continuous contribution control controller
convenience convergence conversation convict cook cooker cookhouse cookie cool cope copper cops copyright cord core
corn corner corona correction correlation correspond corridor corrupt cosine cosmetics cotton cough council counsel
countdown counter couple coupling coupon courage course court cousin cover coverage cow crab crack craft crane crash
crate crayon cream creative creativity credential credit creditor crew cricket crime criminal crisis critic critical
critique crocodile crop cross crossword crowd crown cruise crust crystal cube cucumber cuisine cultural culture cup
cupboard curb curiosity curious curl currency currently curriculum curry cursor curtain curve cushion custom customs
cut cycle cyclone cylinder daemon dairy damp dance dancer dare dark darkness dashboard data database date daughter
dawn deadlock deaf deal debate debris debt decade decay decimal deck declare decline decoder decorate decoration
deduct deep deer default defeat defend deficit define definite degree dehydration delay delegate deletion deliver
delta demo democracy denial dense density dental dentist deny department dependency deployment deposit depot
depression depth deputy derivative derive describe desert deserve design desk desktop despite dessert destination
detail detergent deviation device diabetes diagnose diagnosis diagram dialect diamond diaphragm diary dictator diesel
diet different diffident diffusion dig digest digit digital digitize dim dimension dinosaur dip direct direction
directive directly dirt disability disabled disagree disappoint disaster discipline discography discount discover
discovery disguise dish dishwasher disk dismiss disorder dispatcher display distance distribute disturb dive diver
diversity divide dividend division dock docker docking doll dolphin domain dome donation donkey door doorbell dose dot
double doubt dough downtown dozen draft drag dragon drain drama draw drawer drawing dream dress drill drive driver
drone drought drum dry duck due duke dumbbell dump dune duration during dust duty duvet dwarf dwell dye dynamic
dynasty each eager eagle ear early earn earning earphone earring earth earthquake ease east echo eclipse ecology
economic economical economics economist economy ecosystem edge edible edition editor education effect efficiency egg
elasticity elbow elect election electric electrical electrician electrode electron electronic element elephant
eligible elite elixir ellipse else embarrass embassy emerge emergency emigrate emission emit emoji emotion emperor
empire employer employment enamel encode encoding encounter ending endocrine endpoint endpoints energy enforce engage
engine engineer engineering enrich entertainment enthusiasm entrance entry enumeration envelope environment enzyme
epic epidemic epilepsy episode equation equator equilibrium equip equipment equity era erosion erupt escalator escort
especially espresso essence establish estate ethic ethics etymology euler evaporation even evening event ever every
everyday evict evoke evolution evolve exact excel except excerpt excess excite exciting exclusive excuse executive
exert exhaust exhibition exist existence expectation expedition expel expense expensive experience experiment
expiration expire explain explicit explorer exponent exponential export expose exposure express expression extension
external extra extract eye eyebrow fable fabric face facility factor factory faculty fail failure fair fairy faith
falcon fall fallacy fame familiar family famine fantasy far fare farm farmer fashion fasten fasting fate father
fatigue faucet favor fear feather federal fee feed feedback feel feet fence fermentation fern ferry fertilizer
festival fetch fever few fiber fibre fiction field fig fight figure file final finally finance financial finger fire
firefox fireplace firewall fireworks firm firmware first fishing fit fitness fix fixture flag flame flamingo flank
flash flask flat flee fleet flesh flight flip float flood floor flora flour flow flowchart flower fluent fluid
fluorescent flush flute fly foam focus foil fold folk font foot football footer footnote force forecast foreign
foreseeable forest forever forge forgotten fork form format formation formula fortune forty forum forward fossil foul
found foundation founder fountain four fox fraction frame framework franchise fraud freckle freedom freelance freeze
freezer freight frequency fresh friction friday friendly friendship frog from front frontend frost frown fruit fry
fuel function fund fundamental funding funeral fungus fur furnace fuse fusion future gadget gain galaxy gallery gallon
gallstone gamer gang gap garage garden garlic gate gateway gather gaze gazette gear gem gender gene general generation
generator generic genetic genius genome genre geography geology geometry germ gerund gesture ghost giant ginger
giraffe girl girlfriend gist git glacier glamorous glass global globe glory glove glucose glue gluten goalkeeper goat
god gold golf good goods google gorge gorilla gospel gossip gout government gown grace grade gradient graduate
graduation graffiti grain grammar granite grant grape grass gravel gravity gravy grease great greenhouse greet
greeting grid grief grill grind groan grocery gross ground group growth guarantee guard guess guest guide guideline
guilty guitar gulf gum gun gut gym habit hack hair hairdresser hall halo halt hammer hamster handbook handle handshake
hang happen harass hardware harmony harp harvest hash hashing hat hate haul hawk hay hazard head header headline
headphone headset heal health heap heart heartbeat heat heaven hedge heel height helicopter helmet help hemisphere hen
hepatitis herb herbicide here heritage hero heron hexagon hiccup hide hierarchy highlight highway hike hill hint hip
hippo hippopotamus histogram history hit hive hobby hockey hole holy homepage homicide homonym honey hood hook hope
horizon hormone horn horror hose hospital hospitality host hostage hostel hot hotel hour hourly household housekeeping
housing hover human humidifier humidity humorous hungry hunt hurricane hurry hurt husband hybrid hydrant hydrogen
hygiene hyperbole hypothesis ice iceberg icecream icon ideal identical identification identity idiom ignite illegal
imagination immediate immigrate immigration immune implicit import importance impose impression impulse inbox inch
incident incidental include income incoming incur indent independence independent index indicate indication indicator
indoor industrial industry inequality infection infinity inflammation inflate inflation influence inform
infrastructure ingredient inhaler inherit inheritance inhibit initial initiative injection injure ink inn inner
innocent innovation input insert insomnia inspection inspire install instead institute institution instruction
instrument insulation insulin insurance insurer intake integral intellectual intelligence intend intense intent
intention interact interaction interceptor interest interface interfere interior intermediate internal international
interpreter interrupt intersection interstellar interval intervention interview intestine into introduction invalid
invasion inventory invest investment investor invitation invite invoice invoke involve iris iron irony irrigation
island isolation itch item iteration ivory jacket jaguar jail jam jar java jaw jazz jeans jelly jet jewel jog joint
joke journal journalist joy joystick judge judo juggler juice july june jungle junior jury just justice kangaroo
karate kayak keen kernel ketchup kettle keyword kick kid kidney kilo kind kingdom kit kitchen kite kiwi knead knee
kneel knife knit knock knot knowledge koala label labyrinth lack ladder lag lake lamb lamp lan land landing landlord
landscape lane language lap large lasagna laser last late later latex latitude lattice laundry lava law lawn lawsuit
layer layout lazy lead leader leaf leak lean leap leash leather lecture left leg legacy legend legislation leisure
lemon lemonade lend length lens lentil leopard less lesson letter lettuce leukemia level lever levy lexicon liability
liaison library lick lid lie life lifetime lift ligament light lightning like limb lime limerick limit line lineage
linear linen lineup linguistics link linkage linux lion lip lipstick liquid liquidity list listener literature litter
little liver livestock lizard llama load loaf loan lobby lobbyist lobster local location lock locomotive log logic
logo long longitude loom loop loose lord loss lotion lottery lounge love low loyalty lullaby lunar lung luxury lyric
machine macro magic magistrate magma magnesium magnet mail maintain maintenance major majority makeup malaria male
mall malware mammal manage management mandarin mandate maneuver mango mantle manual manufacturer manuscript map maple
marathon marble march margarine margin marine mark marker market marketing marriage martyr mascot mask mass massage
mast master match material maternity matrix matte matter mattress mature may maybe mayonnaise mayor meadow measles
measure measurement meat mechanic mechanical mechanism medal median medical medieval meditation medium meet meeting
melody melon melt member membership memoir memorial memory meningitis mental mentor menu merchant mercury mercy mere
merge merit mess metabolism metal metaphor metaphysics meteor microphone microscope microservice microwave middle
middleware midnight might migraine migration mild military milk mill millennium mind mine mineral miniature minister
minor minority mint minus minute miracle mirror misery mislead miss missile mission mitosis mix mixture mobile mode
model modem moderate modest modifier modify module moisture molecule moment momentum monarch monday money monitor
monkey monologue monster month mood moon moose moral morning mortgage mosaic mosque mosquito motel moth motion
motivation motor motto mount mountain mouse mouth mow mud muffin mule multiple murder muscle museum mushroom music
musical musician mustard mutation mutex mutual mystery myth nail naked name namespace nap napkin narrative narrator
narrow natural nature navigation navigator navy neat nebula necessary neck needle negative negotiation neighbor
neither nephew nerve nest net network neural neurology neuron neutral neutron newsletter next nice niche night
nightmare nitrogen nod node noisy nominate none noodle noon norm normal north nose notebook nothing notice noticeable
noun novel novelist now nuclear nursery nut nutrient nutrition nylon oak oasis oath oatmeal obesity obituary object
objection obligation observation obstacle occasion occupy occur occurrence ocean octopus odd offer office officer
official offset offspring oil old olive omelet omelette once onion only onto ontology opening opera operate operation
operator opportunity opposite oppress optical optics optimal optimism option oral orange orbit orchestra orchid
ordinal ordinary organ organic orientation origin original ornament orphan osmosis other ought ounce outage outer
outfit outgoing outlet outline outlook output outside outsource oven over overdraft overflow overhead overlap
overnight overseas overtime overview overwrite owe owl own owner oxygen oyster pace pack pad page pagination pain
paint painter pair palace palm pan pancake pancreas panda pane panel panic pants paper parachute parade paradigm
paradise paradox parallel parasite parcel parent parenthesis park parking parliament parrot parse parser part particle
particular partition partner party passage passenger passion passive passport past pasta paste pastel pastime pastry
patch patent path patience patriot pattern pause pave payload payroll peace peach peacock peak peanut pear pearl
pebble pedal pedestrian peer pen penalty pencil penguin peninsula pension pepper per perceive percentage perception
percussion perfect performance performer perimeter period permission perpendicular persist persistent person personal
personality perspective pet petal petroleum pharaoh pharmacist pharmacy phase phenomenon philosophy phobia phone
phosphorus photosynthesis phrase physical physicist physics pianist piano pick pickle picnic pie piece pig pigeon
pigment pile pill pillow pin pine pineapple pint pioneer pipe pipeline pirate pitch pivot pixel pizza place placebo
plague plain plan planet plank plant plasma plastic plate platform play player playground playlist playwright plead
please plenty plot plug plugin plumber plural plywood pneumonia pocket podcast point pointer points poison polar pole
policy polish political politician politics pollen pollination pollution polygon polymer polynomial pond pony pool
poor pop pope popularity population porcelain porch pork port portal portfolio portion portrait portuguese pose
position positive possession possibility post postage postcard poster postfix posture pot potato pottery pour poverty
powder power practical practice prawn pray prayer preacher precipitation predator predict prediction preface prefer
preferred prefix pregnancy premier premium prepare preposition prescription presence present presidency president
press pressure presume prevail prevention previous price pride priest prime prince princess principal principle print
prior priority prism prison privacy private privilege prize probability proceed producer product productive
productivity profess profession professional profile profit programmer programming progress project projector prologue
promise promote prompt pronoun pronounce pronunciation proofreading propaganda property proportion prosecutor prospect
protagonist protein protest protocol proton prototype proud prove proverb provider province provision proxy prune
psychology pub public publication publicly pudding pull pulley pulse pump pumpkin pupil puppy purple purpose push
puzzle pyramid python quadratic quality quantity quantum quarantine quarrel quarry quarter quarterly quartz queen
question queue quiet quite quota quotation quote quotient rabbit race racism rack radar radiation radiator radical
radio radius raft rail railway rain rainbow rainfall rainforest raisin rally ram ramp ranch random range rank ranking
rare rash raspberry rat rate rather rating ratio rational raven raw ray razor react reaction reactor read reader
reality really realm reap rear rebate rebel rebellion received receptor recession recipe recite recommend rectangle
recursion recursive recycle red redirect refer referee reference referring reflect reflection reform refraction
refrain refresh refugee refuse regex regime region regional register registrar regression regret regular regulate
regulation rehearsal reign reindeer reject relate relation relationship relative relativity relax relay relevance
relevant reliability relief religion religious rely remember remind reminder remote render rent repair repay repeat
repel replacement report reptile republic reputation request rescue reservation reserve reservoir residence resident
resin resistance resolution resort resource respect respiration response responsibility responsible rest restaurant
restore restriction resume retail retain retina retirement retry reunion revenue reverse review revision revolution
rhetoric rhinoceros rhyme rhythm rib ribbon rice rid riddle ride ridge rifle right ring rinse rip ripe rise risk
ritual rival river road roadmap roast rob robber robe robot robotics rocket rod rodent role roll roman romance
romantic roof rooftop room rooster root rope rose rotate rotation rotten rough round route router routine royal rub
rubber rug rule ruler run runner runtime runway rural rush rust sack sacrifice saddle safe sail sailor saint sake
salad salary sale salmon salon salt sand sandal sandbox sandwich sarcasm satellite satire satisfaction saturn sauce
sauna sausage saute saw saxophone scaffold scalar scale scam scan scandal scar scare scarf scene schedule scheduler
schema scholarship school science scissors scope scorch scorching score scoreboard scorpion scout scratch screen
screenshot screw script scroll sculpture sea seafood seahorse seal search season seat second secretary section sector
secure sediment seed seem segment self sell seller semaphore semicolon semiconductor seminar senate senator senior
sense sensitive sensor sentence separate sequel sequence serial series serif serve server service session set setting
settle seven sew sewage sex shade shadow shake shallow shaman shame shampoo shape share shareholder shark sharp shave
shed sheep sheet shelf shell shellfish shelter shield shift shine ship shirt shock shoe shoot shopping shore short
shortcut shot shoulder shovel shower shrimp shuffle shut shuttle sibling side siege sigh sign signal signature
significance silence silicon silk silly silver similar simulation sin sing singer single sink sip sister site sitemap
situation sixth size skate skeleton sketch ski skill skim skin skip skirt skull sky skyscraper slacks slang slave
sleeve slice slide slip slope slot sloth small smartphone smell smile smog smoke smooth snack snail snake sneeze
snippet snore snow snowfall soak soap soar sob soccer social socialist society sock socket soda sodium soft soil solar
sole solid some somebody song sonnet soon soprano sorry sort soul soup sour source south sow soy space spacecraft
spaghetti spare spark sparrow spatula spear special species specification spectrum speech speed spell spelling spend
sphere spice spider spill spin spinach spine spiral spirit spit spleen split spoil sponge sponsor spoon sport spot
spray spread spreadsheet spring sprinkler sprint spy square squash squat squeeze squirrel stability stack stadium
staff stairs stake stamp stand standard standings stanza stapler star stare starfish stars starter startup state
statement statesman static station stationary stationery statue status statute steak steam steel stem stencil
stereotype stethoscope stew stick stiff still stir stitch stock stomach stool stop storage store stork storm stove
straight strain strand strategy straw strawberry stray stream streaming street strength stress stretch strike strip
stripe stroke structure stubborn studio study stuff style subject submission subnet subroutine subset substance
substitute subtitle suburb subway succeed success successful suck suffer suffix sugar suggest suicide suit suitcase
suite sulfur sum summer summit sun sunday sunflower sunlight sunscreen sunset superior supernova supersede supply
support suppose surf surface surgeon surgery surname surplus surprise surrounding surveillance survival sushi suspect
suspend suspension sustainability sustainable swallow swan swap swarm swear sweat sweep sweet swell swim swing swipe
switch sword sycamore syllable symbol symphony symptom synapse synonym syntax synthesis syrup system table tablet
tackle tag tail tailor tale talent tame tank tap tape taper tapestry target tariff tartan task tattoo tax taxi
taxonomy tea team teapot tear technical technology teeth telegram telephone telescope temp temperament tempest
template temple tempt tenant tend tendency tendon tennis tense tension tensor tent terminal terms terrace territory
terror tester testing text textbook texture than thank thaw theft their theme then theorem theory therapist there
therefore thermometer thermostat thesis thick thief thing third thirst thirsty thorough though thought thread threat
three threshold thriller throat throne throttle through throughput thumb thunder thyme thyroid tick ticket tickle tide
tidy tie tiger tight tile tilt time timeline timeout timer timestamp timezone tin tip tire tissue title toast toasty
tobacco today toe tofu together token tolerance tomato tomorrow ton tone tongue tonsil tool toolbar tooth toothbrush
top topic topology torch tornado torque tortilla tortoise total touch tour tourism tourist tournament tow toward towel
tower town toxic toy trace track tractor trade trademark tradition traffic tragedy trail train trainers training trait
tram trampoline transaction transcript transformation transistor transition translator transmission transparency trap
trapezoid travel traverse tray treadmill treasure treasury treaty tree trend trial triangle tribe trick trigger
trigonometry trillion trim tripod trombone trophy tropical trouble trousers trout truly trumpet trunk trust truth try
tsunami tube tuberculosis tuition tulip tumor tuna tune tunnel turbine turkey turn turnip turtle tutor tutorial tuxedo
tweet twin twist twitter two tycoon type typhoon typing tyranny ulcer ultimate ultrasound unable uncle under
underground understand undo unemployment unfold unfortunately unicorn uniform union unique unit unity universal
universe university unless unlock untangle until unusual unwind update upload upper upset urban urine usage usual
utensil utilities vacancy vacation vaccine vacuum valid valley value valve vampire van vanilla vapor vapour variable
variance variant variety vector vegan vegetarian vehicle vein velocity velvet vendor venom venue verb verdict verse
version vertebrate vertical vessel veteran veterinary viable victim victory video village vine vinegar vinyl violence
violet violin violinist viper virtual virtue virus visa vision visit visual vitamin vocabulary vocalist voice void
volcano volleyball volt volume volunteer vomit vote voter voucher vowel voyage vulture waffle wag wagon waist waiter
waitress wake wall walnut walrus wander war wardrobe warehouse warfare warm warning warranty wash washing wasp waste
watch water watercolor waterfall watermelon wave wavelength wax weakness wealth weapon weasel weather weave web webcam
webhook webinar wedding weed week weekend weekly weigh weight weird welcome weld welfare well west wet whale wheat
wheel whether which while whip whirlpool whisper whistle white whole wide widget widow width wife wifi wild wilderness
wildfire will willow wind windmill window windows wine wing winter wipe wire wiring wisdom wish witch with wizard
wobble wolf wonder wood woodpecker wool word workflow workplace workshop world worm worry worse worst worth wound wrap
wrench wrestle wrist writer writing wrong xenon xylophone yacht yard yawn yeast yell yen yesterday yield yoga yogi
yolk young zebra zinc zodiac zombie zone zoo zoom
`
