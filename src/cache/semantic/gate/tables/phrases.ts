/** Several words that mean one, in base forms: `words = word`. Nothing behind the sign: they are dropped. */
export const PHRASES = `
trash can = trash|free of charge = free|talk about = discuss|look at = watch|set up = configure|set-up = configure
|roll out = deploy|look for = search|sum up = summarize|refer to = mention|proof of purchase = receipt
|step down = retire|due date = deadline|call off = cancel|come back = return|per month = monthly|per year = annual
|per day = daily|split up = divorce|back up = backup|sign up = register|opt out = unsubscribe|opt in = subscribe
|get rid of = delete|find out = discover|figure out = determine|work out = determine|carry out = perform
|put off = postpone|give up = quit|look up = search|make sure = ensure|take place = happen|go over = review
|log in = login|log into = login to|log on = login|sign in = login|sign into = login to|log out = logout
|sign out = logout|log off = logout|turn on = activate|switch on = activate|turn off = deactivate
|switch off = deactivate|come up with = create|point out = mention|speed up = accelerate|slow down = decelerate
|throw away = discard|throw out = discard|in order to = to|so as to = to|as well as = and|in addition to = and
|due to = because|because of = because|owing to = because|as a result of = because|with the help of = with
|by means of = with|by using = with|with regard to = about|with respect to = about|in regard to = about|in case = if
|in the event that = if|provided that = if|as long as = if|even though = although|a lot of = many|lot of = many
|a number of = several|plenty of = many|a couple of = couple|a bunch of = many|at the moment = currently
|right now = now|at present = currently|as soon as possible = asap|at least = at-least|at most = at-most
|no more than = at-most|no less than = at-least|not more than = at-most|not less than = at-least|up to = at-most
|more than = more-than|less than = less-than|greater than = more-than|fewer than = less-than
|over and over = repeatedly|kind of = kind|sort of = kind|type of = kind|united state = usa
|united states of america = usa|united state of america = usa|the state = usa|u.s = usa|u.s.a = usa
|united kingdom = uk|great britain = uk|u.k = uk|new york city = nyc|european union = eu|united nation = un
|artificial intelligence = ai|machine learning = ml|natural language processing = nlp|operating system = os
|user interface = ui|user experience = ux|virtual private network = vpn|graphic processing unit = gpu
|central processing unit = cpu|random access memory = ram|chief executive officer = ceo|chief technology officer = cto
|chief financial officer = cfo|application programming interface = api|value added tax = vat
|world health organization = who-org|gross domestic product = gdp|return on investment = roi
|key performance indicator = kpi|search engine optimization = seo|pull request = pr|continuous integration = ci
|command line interface = cli|regular expression = regex|structured query language = sql|cascading style sheet = css
|hypertext markup language = html|human resource = hr|frequently asked question = faq|do it yourself = diy
|public relation = pubrel|non disclosure agreement = nda|non-disclosure agreement = nda|paid time off = pto
|body mass index = bmi|global positioning system = gps|light year = lightyear|ice cream = icecream|web site = website
|web page = webpage|e mail = email|e-mail = email|data base = database|pass word = password|user name = username
|file name = filename|time zone = timezone|time stamp = timestamp|check list = checklist|check-list = checklist
|work flow = workflow|screen shot = screenshot|smart phone = smartphone|cell phone = smartphone
|mobile phone = smartphone|note book = notebook|air port = airport|step by step = stepwise|step-by-step = stepwise
|one by one = individually|real time = realtime|real-time = realtime|social medium = socialmedia
|credit card = creditcard|debit card = debitcard|high school = highschool|brand new = new|by heart = memorized
|for example = example|for instance = example|such as = like|et cetera = etc|and so on = etc|each other = mutually
|one another = mutually|in term of = about|have to = must|has to = must|had to = must|need to = must|ought to = should
|be able to = can|is able to = can|am able to = can|are able to = can|be allowed to = may|is allowed to = may
|am i allowed to = may i|are allowed to = may|be permitted to = may|is permitted to = may|be supposed to = should
|going to = will|every day = daily|every week = weekly|every month = monthly|every year = annual|each day = daily
|each week = weekly|each month = monthly|each year = annual|once a day = daily|once a week = weekly
|twice a day = twice-daily|all over the world = worldwide|around the world = worldwide|in the world = worldwide
|lose weight = weightloss|weight loss = weightloss|take care of = handle|deal with = handle
|get in touch with = contact|reach out to = contact|pay attention to = notice|take part in = participate
|have a look at = review|take a look at = review|make use of = use|get back = recover|pay back = repay
|bring up = raise|hand in = submit|fill out = fill|fill in = fill|run out of = exhaust|break down = breakdown
|shut down = shutdown|turn down = reject|cut down on = reduce|cut down = reduce|cut back on = reduce
|scale down = reduce|scale up = increase|zip file = zipfile|note that =|in general =|in fact =|of course =|as well =
|at all =|you know =|i mean =|in detail = detailed|if possible =|for me =|to me =|for us =|if you can =|if you could =
|when you can =|when you get a chance =|in advance =|so much =|very much =|a lot = lots|thanks a lot = thanks
|thank you = thanks|many thanks = thanks|if you do not mind =|would be great = great|a bit = bit|a little = bit
|little bit = bit|and/or = or
`
/**
 * Beginnings that only ask for an answer; dropped as often as one is found. A question may come behind them, and in a
 * statement's order.
 */
export const OPENINGS = `
please|hi|hello|hey|hi there|hello there|hey there|ok|okay|so|well|um|uh|hmm|oh|now then|good morning|good afternoon
|good evening|excuse me|sorry|quick question|question|i have a question|i have a quick question|i got a question
|can you|could you|would you|will you|can u|can you please|could you please|would you please|can you kindly
|can you tell me|could you tell me|can you explain to me|please tell me|tell me|let me know|can i ask|may i ask
|could i ask|i want to know|i wanna know|i would like to know|i wish to know|i must know|i just want to know|i wonder
|i am wondering|i was wondering|i was just wondering|i am curious|i am curious about|do you know|do you happen to know
|would you know|any idea|do you have any idea|does anyone know|does anybody know|anyone know|i would like you to
|i want you to|i must you to|i must for you to|would you mind|can you help me|could you help me|please help me|help me
|help me to|help me with|i must help|i must help with|i need help|i need help with|i need help to|be so kind as to
|would you be so kind as to|would you be able to|are you able to|will you be able to|is it possible for you to|give me
|please give me|can you give me|could you give me|provide me with|please provide me with|can i get|can i have
|could i get|could i have|may i have|i need|i want|i would like|i would love|i am looking for|looking for|find me
|get me|remind me|i do not know|i do not understand|i am not sure|not sure|i forgot|to ask|you to tell me
|it be great if you could|it would be great if you could|i appreciate it if you could
|i would appreciate it if you could|i would be grateful if you could|dear assistant|assistant|dude|friend|buddy|bro
|guys|folks|everyone|all right|alright|yo|greetings|out of curiosity|just out of curiosity|i would be grateful
|i would be very grateful|i would be grateful if you|i would appreciate it|i would really appreciate it
|i would appreciate it if you|i really appreciate it if you|it would be great|it would be nice
|it would be nice if you could|sorry to bother you but|sorry to bother you|sorry to disturb you but
|if it is not too much trouble|if it is no trouble|if you have time|if you have a moment|when you have a moment
|be so good as to|be kind enough to|would you be so good as to|would you be kind enough to|could you do me a favor and
|can you do me a favor and|do me a favor and|thanks for your help|thanks for your time|i appreciate your time
|i appreciate your help|a question|one question|list the|name the|state the|list out the|tell us|could you tell us
|show us|feel free to|go ahead and|take a moment to|i was hoping you could|i am hoping you can|i hope you can
|i hope you can help me|by the way|btw|fyi
`
/** Ways to ask, `words = kind tail`; the tail is a noun that the question asks for. `!` keeps the words. */
export const FRAMES = `
how do i = howto|how do you = howto you|how do we = howto|how do one = howto|how can i = howto|how can you = howto you
|how can we = howto|how can one = howto|how should i = howto|how should one = howto|how should we = howto
|how would i = howto|how would you = howto you|how would one = howto|how could i = howto|how could one = howto
|how might i = howto|how might one = howto|how do someone = howto|how do a person = howto|how do people = howto
|how am i supposed to = howto|how shall i = howto|how must i = howto|how i can = howto|how can i go about = howto
|how do i go about = howto|how do you go about = howto you|how to go about = howto|how one can = howto
|how we can = howto|how you can = howto you|how i = howto|how to = howto|how to properly = howto|the way to = howto
|way to = howto|what is the way to = howto|what is the way of = howto|what is a way to = howto
|what be the way to = howto|what is the best way to = howto|what is the best way of = howto
|what is a good way to = howto|best way to = howto|the best way to = howto|what is the right way to = howto
|what is the correct way to = howto|the correct way to = howto|the right way to = howto
|what is the proper way to = howto|what is the easy way to = howto|what is the easiest way to = howto
|easiest way to = howto|the easiest way to = howto|what is the method to = howto|what is the method for = howto
|what is the procedure for = howto|what is the procedure to = howto|what is the process for = howto
|what is the process to = howto|what is the process of = howto|what are the step to = howto
|what are the step for = howto|what step do i take to = howto|what step should i take to = howto
|what step do i follow to = howto|steps to = howto|step to = howto|the step to = howto|the steps to = howto
|what do i do to = howto|what should i do to = howto|what must i do to = howto|what do i must do to = howto
|what can i do to = howto|explain how to = howto|explain how i can = howto|describe how to = howto
|show me how to = howto|show how to = howto|teach me how to = howto|teach me to = howto|walk me through = howto
|walk me through how to = howto|guide me through = howto|instructions for = howto|instructions to = howto
|instructions on how to = howto|instruction for = howto|instruction to = howto|instruction on = howto
|is there a way to = howto|is there any way to = howto|is there a way i can = howto|is there a way for me to = howto
|i would like to know how to = howto|guide to = howto|a guide to = howto|a guide on how to = howto
|tutorial on how to = howto|how come = why|what is the reason = why|what is the reason for = why
|what is the reason behind = why|what is the reason why = why|what is the reason that = why|the reason why = why
|for what reason = why|explain why = why|describe why = why|why is it that = why|what is why = why|why = why
|how long do it take to = howlong|how long will it take to = howlong|how long would it take to = howlong
|how much time do it take to = howlong|how much time will it take to = howlong|how much time is needed to = howlong
|how long = howlong|how much time = howlong|how many = howmany|what is the number of = howmany|the number of = howmany
|number of = howmany|what number of = howmany|what is the total number of = howmany|how much = howmuch
|what is the amount of = howmuch|what amount of = howmuch|how tall = what height|how high = what height
|how old = what age|how far = what distance|how big = what size|how large = what size|how heavy = what weight
|how deep = what depth|how wide = what width|how expensive = howmuch cost|how fast = what speed|how often = howoften
|how frequently = howoften|when = when|what time = when|at what time = when|on what date = when|on which date = when
|what date = when|what day = whatday|what is the date of = when|where = where|where can i find = where
|in what place = where|in which place = where|what is the location of = where|at what place = where|who = who
|which person = who|what person = who|who is the person who = who|who is the person that = who
|what is the name of the person who = who|whose = whose|define = what meaning|what is meant by = what meaning
|what is the definition of = what meaning|the definition of = what meaning|definition of = what meaning
|what is the meaning of = what meaning|meaning of = what meaning|the meaning of = what meaning|explain what = what
|describe what = what|explain how = how|describe how = how|explain the way = how|in what way = how|in which way = how
|how = how|what kind of = whatkind|what type of = whatkind|which kind of = whatkind|which type of = whatkind
|what sort of = whatkind|which = what|what = what|is it possible to = can|is it possible for me to = can
|is it possible that = can|can i = can|can we = can|can one = can|could i = can|am i able to = can
|is there a possibility to = can|may i = may|is it allowed to = may|is it ok to = may|is it ok if i = may
|is it okay to = may|is it okay if i = may|should i = should|must i = must|do i must = must|shall i = should
|whether = yesno|if it is possible to = can
`
