/** Words of a kind, each of which answers differently from the next. */
export const COLOURS = `
red orange yellow green blue purple violet indigo pink brown black white gray gold silver beige turquoise cyan magenta
maroon navy teal olive lime crimson scarlet ivory lavender amber bronze coral khaki burgundy blonde brunette
`
export const SIZES = `
small medium large tiny huge big little short tall long wide narrow thick thin mini micro nano mega giant full half
quarter double triple single dual quad twin king queen xs xl xxl deep shallow high low broad compact oversized
`
export const ROLES = `
admin user guest owner editor viewer manager employee employer contractor developer tester engineer designer teacher
student parent child doctor nurse patient lawyer client buyer seller vendor supplier customer tenant landlord driver
passenger pilot captain judge author reader sender receiver recipient host moderator member subscriber accountant chef
waiter pharmacist dentist surgeon plumber electrician carpenter farmer soldier officer president king queen mother
father brother sister son daughter husband wife uncle aunt grandmother grandfather cousin nephew niece baby adult
teenager freelancer intern director mayor senator minister governor librarian translator journalist photographer
`
export const PLACES = `
kitchen bathroom bedroom office home school hospital hotel airport station library museum restaurant bank church park
beach garden garage city village town country state province county street river lake sea ocean mountain desert forest
island valley north south east west europe asia africa america australia antarctica germany france spain italy
portugal england scotland ireland wales britain japan china india russia canada mexico brazil argentina chile peru
colombia egypt kenya nigeria morocco turkey greece sweden norway denmark finland iceland poland austria switzerland
netherlands belgium hungary romania bulgaria ukraine israel iran iraq pakistan bangladesh thailand vietnam indonesia
malaysia singapore philippines korea taiwan paris london berlin madrid rome vienna lisbon dublin tokyo osaka kyoto
beijing shanghai delhi mumbai moscow toronto montreal vancouver chicago boston seattle houston dallas miami denver
austin california texas florida oregon nevada arizona ohio georgia virginia english french german spanish italian
portuguese dutch japanese chinese korean russian arabic hindi turkish polish swedish norwegian danish finnish greek
hebrew latin czech hungarian romanian ukrainian thai vietnamese indonesian
`
/** Words that may be left over, at most three: the answer is the same without them. */
export const FILLERS = `
just really actually basically simply literally honestly exactly precisely truly quite very rather properly correctly
easily effectively efficiently personally specifically essentially obviously somehow proper also too anyway anyways
actual various given especially particularly overall currently presently here there successfully ahead indeed clearly
`
/** Words of politeness; dropped wherever they are. */
export const POLITE = `
please thanks thank hello kindly bitte danke hallo merci bonjour gracias hola grazie ciao obrigado obrigada ola
`
/** Dropped: they join words and say nothing themselves. */
export const STOP = `
a an the is are am be been being do does doing did was were of that this these those there it its it's which has have
had having 's so as-well s
`
/** One unit a group: the first spelling is the name. Single letters count behind a number only. */
export const UNITS = `
km kilometer kilometre kms|mi mile|m meter metre|cm centimeter centimetre cms|mm millimeter millimetre|ft foot feet
|inch inches|yd yard yds|kg kilogram kilo kgs kilogramme|g gram gramme grams|mg milligram|lb pound lbs|oz ounce
|t tonne ton|l liter litre|ml milliliter millilitre|gal gallon|pint pints pt|quart quarts|cup cups|tbsp tablespoon
|tsp teaspoon|s second sec secs|ms millisecond|us microsecond|ns nanosecond|min minute mins|h hour hr hrs|day days
|week weeks wk|month months|year years yr yrs|decade decades|century centuries|c celsius °c centigrade|f fahrenheit °f
|k kelvin|deg degree degrees °|rad radian radians|w watt|kw kilowatt|mw megawatt|kwh|v volt volts|a amp amps ampere
|ohm ohms|hz hertz|khz kilohertz|mhz megahertz|ghz gigahertz|byte bytes|bit bits|kb kilobyte|mb megabyte|gb gigabyte
|tb terabyte|pb petabyte|kib kibibyte|mib mebibyte|gib gibibyte|kbit kilobit|mbit megabit|gbit gigabit|mbps|gbps|kbps
|kph kmh km/h|mph|knot knots|cal calorie|kcal kilocalorie|joule joules|kj kilojoule|pa pascal|kpa kilopascal|psi
|bar bars|atm|acre acres|hectare hectares ha|sqm|sqft|px pixel pixels|dpi|rpm|percent % percentage|permille ‰
|dozen dozens|pair pairs|usd dollar dollars $ bucks|eur euro euros €|gbp sterling £|jpy yen ¥|inr rupee rupees ₹
|cny yuan rmb|chf franc francs|cent cents|brl reais|krw won|rub ruble rubles rouble|aud|cad|sek|nok|dkk|pln zloty
|btc bitcoin|word words|character characters|page pages|line lines|sentence sentences|paragraph paragraphs
|token tokens
`
