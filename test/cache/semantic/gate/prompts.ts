/** Prompts of many fields, one a line. They were written for the generator of minimal pairs. */
export const ENGLISH = `
How do I reset my password on the staff portal?
What is the capital of Mongolia?
Explain how photosynthesis works in three sentences.
Write a poem about the ocean at night.
Translate "good morning" into Portuguese.
Summarize the plot of Hamlet for a teenager.
What are the early symptoms of diabetes in adults?
Convert 12 miles to kilometers.
How many calories are in a banana?
Why is the sky blue at noon?
Give me a recipe for lentil soup without garlic.
What time does the pharmacy on Baker Street close?
Draft an email to Maria about the late invoice.
How long should I boil an egg?
Can I return shoes after 30 days?
List five exercises that strengthen the lower back.
What's the difference between a virus and a bacterium?
Who wrote the first symphony of Mahler?
Fix the grammar in this sentence: she go to school every day.
Is it safe to drink tap water in Lisbon?
Explain recursion to a beginner with a short example in Python.
How can I merge two dictionaries in Python?
Write a SQL query that counts orders by customer.
What does the flag --dry-run do in kubectl?
Create a function in JavaScript that reverses a string.
How do I undo the last commit in git?
Why does my container exit with code 137?
What is the time complexity of quicksort?
Compare PostgreSQL and SQLite for a small project.
Write unit tests for a function that validates e-mail addresses.
How do I center a div vertically with CSS?
Explain the difference between a process and a thread.
Which port does Redis listen on?
Rename the variable total_count to sum_of_items in src/report.py.
How do I install Docker on Ubuntu 22.04?
What changed in version 3.12 of the language?
Generate a regular expression that matches a date.
How can I speed up a slow query in MySQL?
Describe the steps to renew a passport in Canada.
What documents do I need for a work visa?
How much tax do I pay on a salary of $52,000?
Calculate the monthly payment on a loan of 200000 euros over 20 years.
What is compound interest?
Should I buy or rent an apartment in Berlin?
How do I cancel my subscription before the trial ends?
When does the refund arrive after a cancelled order?
Track the package with number ZX-99817.
Where is the nearest train station to the museum?
Recommend a quiet hotel near the harbour in Oslo.
Plan a trip of 4 days to Kyoto with children.
What should I pack for a hike in the desert?
Is there a direct flight from Vienna to Dublin?
How far is the moon from the earth?
Which planet has the most rings?
How old is the universe?
What causes an earthquake?
Explain Newton's second law with an example from sport.
What is the boiling point of water at 2000 meters?
How do vaccines train the immune system?
What are the side effects of ibuprofen?
Can adults take 400 mg of paracetamol every 6 hours?
How is high blood pressure treated?
What foods are rich in iron?
How do I treat a mild burn at home?
Is honey safe for a baby of 8 months?
What is the dosage of amoxicillin for a child of 20 kg?
Suggest a vegetarian dinner for six guests.
How do I keep basil alive in winter?
Why are the leaves of my tomato plants yellow?
When should I prune an apple tree?
How often do I water a cactus?
Which birds migrate over the Alps?
How do I teach a puppy to sit?
Can cats eat cooked chicken?
What breed of dog is good for a small apartment?
Write a short story about a lighthouse keeper and a lost whale.
Invent a name for a bakery that sells rye bread.
Write a slogan for a brand of running shoes.
Rewrite this paragraph in a formal tone.
Make the following text shorter and keep the main idea.
Write a cover letter for a junior accountant.
Prepare ten interview questions for a project manager.
What are the duties of a landlord in Scotland?
Explain the term "force majeure" in a contract.
What is the notice period for a tenant?
Who is liable for damage in a rented car?
How do I register a trademark in Japan?
What is the legal drinking age in Iceland?
Summarize the judgment in two paragraphs for a client.
What is the difference between a patent and a copyright?
When did the Berlin wall fall?
Who was the first president of Turkey?
Why did the Roman empire collapse?
Describe the causes of the French revolution.
What happened on 6 June 1944?
Which treaty ended the Thirty Years War?
Who invented the telephone?
How did the printing press change Europe?
Name three rivers that flow through Poland.
What is the population of Nairobi?
Which country has the longest border with Chile?
What is the currency of Hungary?
How high is Mount Kenya?
What language do people speak in Suriname?
Solve the equation 3x + 7 = 22.
What is 15% of 240?
What is the square root of 1764?
Explain the Pythagorean theorem with a drawing made of text.
How do I calculate the area of a circle with a radius of 5 cm?
What is the probability of two heads in 3 tosses of a coin?
Divide 84 by 7 and multiply the result by 3.
Prove that the sum of two odd numbers is even.
What is the derivative of x^2 + 3x?
Convert 98 degrees Fahrenheit to Celsius.
How many ounces are in a pound?
What is the median of 3, 9, 4 and 11?
Explain standard deviation to a nurse.
How do I make a pivot table in Excel?
What does the formula VLOOKUP do?
How do I freeze the top row of a spreadsheet?
How do I share a calendar in Outlook with my team?
Why is my laptop so slow after the update?
How do I connect a printer to the wireless network?
What is the shortcut for a screenshot on Windows?
How do I back up my phone to the cloud?
Turn off notifications for the app at night.
How do I change the language of the keyboard on Android?
Is it possible to recover a deleted photo?
How do I block a caller on my phone?
Explain what a firewall does.
How can I protect my account against phishing?
What is two-factor authentication?
How do I create a strong password?
What is the difference between http and https?
How do I open port 8443 in the firewall of the server web-02.example.com?
Restart the service nginx on host db1.internal after the backup.
How do I increase the memory limit of a pod in Kubernetes?
Write a Dockerfile for a Node application.
How do I roll back a deployment to the previous version?
What is a memory leak?
How do I read a file line by line in Go?
Explain the keyword async in C#.
How do I sort a list of tuples by the second element?
What is a pointer in C?
Write a shell script that deletes logs older than 14 days.
How do I parse JSON in Rust?
What does the error ECONNREFUSED mean?
How do I write a loop that counts from 1 to 10?
Convert the function getUserName to an arrow function.
Add a column created_at to the table invoices.
How do I join two tables by customer_id?
What is the difference between INNER JOIN and LEFT JOIN?
How do I create an index on the column email?
Explain the CAP theorem.
What is eventual consistency?
When should I use a queue between two services?
Design a schema for a library with books, members and loans.
What is the default timeout of the client?
How do I set the environment variable DATABASE_URL?
Explain the output of the command "df -h".
How do I find large files in /var/log?
Schedule a job that runs every Monday at 7 am.
Send a reminder to the customer three days before the invoice is due.
Write a reply to an angry customer whose parcel is late.
What is your refund policy for damaged goods?
How do I change the delivery address of my order?
Do you ship to Norway?
Which sizes of the blue jacket are available?
Is the red backpack waterproof?
How do I exchange a gift without a receipt?
What is the warranty on the dishwasher?
How do I contact support by phone?
Does the store open on Sunday?
How do I apply a discount code at checkout?
Can I pay by bank transfer?
Why was my card declined?
When will the blender be back in stock?
Approve the expense report of the sales team.
How many vacation days do employees get in their first year?
What is the process for a promotion to senior engineer?
Explain the parental leave policy to a manager.
How do I report a safety problem at the warehouse?
Write an agenda for a meeting about the budget.
Summarize the minutes of the meeting for the director.
What are the goals of the marketing team for the next quarter?
How do I write a good performance review?
Who approves travel costs above 500 dollars?
What is the deadline for the annual report?
Prepare a speech for the retirement of a teacher.
Suggest a gift for a colleague who likes tea.
How do I tell my boss that I will leave the company?
What is emotional intelligence?
How can I fall asleep faster?
What are good habits for a healthy heart?
How do I reduce stress before an exam?
Is running better than cycling for weight loss?
How many steps should an adult walk a day?
What muscles does a squat train?
How long does it take to train for a marathon?
What is the best stretch for tight hips?
How do I learn to swim as an adult?
What are the rules of chess for castling?
How many players are on a volleyball team?
Who won the world cup in 1998?
How does the offside rule work?
Explain the scoring in tennis.
Which guitar strings are good for a beginner?
How do I tune a violin?
What chords are in the key of G major?
Recommend three albums of Miles Davis.
Who painted The Night Watch?
What is the golden ratio in art?
Explain the difference between baroque and gothic architecture.
How do I take sharp photos at night?
What lens is good for portraits?
How do I remove a red wine stain from a carpet?
How do I fix a dripping faucet?
What paint do I need for a bathroom ceiling?
How do I hang a heavy mirror on a brick wall?
Which drill bit is for metal?
How do I insulate an old window?
How much does a heat pump cost?
What size of screw fits a plug of 8 mm?
How do I change the oil of my car?
What pressure do the tires of a small truck need?
Why does the engine make a loud noise when it is cold?
How do I jump start a battery?
How fast may I drive on a motorway in Austria?
What do I do after a car accident?
How does a hybrid engine save fuel?
Is an electric car cheaper than a diesel?
How does a mortgage work?
What is inflation?
Explain the difference between stocks and bonds.
How do central banks raise interest rates?
What is the exchange rate of the euro to the dollar?
How do I start a small bakery?
What is a business plan?
Write an invoice text for 12 hours of consulting.
How do I price a handmade table?
What is the profit margin of a restaurant?
Explain supply and demand with coffee as the example.
How do I open a bank account in Denmark?
Which form does a freelancer file in Germany?
What is a credit score?
Draw up a study plan for the chemistry exam on 14 May.
Explain the periodic table to a child of 10 years.
What is an ionic bond?
How do I balance a chemical equation?
What is the molar mass of NaCl?
Explain how a battery stores energy.
How does a microwave heat food?
What is the speed of sound in water?
How do lenses bend light?
Explain quantum entanglement with a simple metaphor.
What is dark matter?
How do stars die?
Why do we have leap years?
How are clouds formed?
What is the difference between weather and climate?
Will it rain in Hamburg on Friday?
What is the humidity of a rainforest?
How do bees make honey?
What do octopuses eat?
How long do elephants live?
Why do cats purr?
Which snakes are poisonous in Spain?
How do whales sleep?
What is the fastest animal on land?
How do I write a haiku?
What is a metaphor?
Correct the spelling in the following letter to the mayor.
Give me synonyms for the word "happy".
What is the plural of "crisis"?
Explain the past perfect tense with two examples.
How do I cite a website in APA style?
Write the introduction of an essay on school uniforms.
What are the main themes of Moby Dick?
Who is the narrator of The Great Gatsby?
Write a dialogue between a doctor and a patient with a cough.
Turn this list into a table with two columns.
Extract all dates from the text below.
Classify this review as positive or negative.
Answer yes or no: is a tomato a fruit?
Rank these cities by population: Lagos, Cairo, Kinshasa.
Choose the best title for an article about sleep.
Translate the sentence "the train is late" from English to Dutch.
Write a birthday message for my grandmother.
Write a toast for a wedding in October.
Tell me a joke about plumbers.
Invent a riddle about a candle.
Explain the rules of the card game rummy.
Describe a sunset without the word red.
How do I say "thank you" in Japanese?
What does the Latin phrase "carpe diem" mean?
What is the opposite of generous?
Which holidays are in December?
How do I cook rice in a pot?
How long do I bake a potato at 200 degrees?
Which wine goes with grilled salmon?
How do I sharpen a kitchen knife?
Can I freeze fresh bread?
What can I use instead of butter in a cake?
How do I make yogurt from milk?
How do I peel garlic quickly?
What is the shelf life of olive oil?
How do I clean a cast iron pan?
Which spices are in a curry?
`
/** The same in other languages: language, then the prompt. */
export const FOREIGN = `
de|Wie setze ich mein Passwort für das Portal zurück?
de|Was ist die Hauptstadt von Ungarn?
de|Schreibe ein Gedicht über den Winter in den Bergen.
de|Wie lange muss ich ein Ei kochen?
de|Welche Unterlagen brauche ich für einen Antrag auf Elterngeld?
fr|Comment puis-je annuler mon abonnement avant la fin du mois ?
fr|Quelle est la capitale de la Pologne ?
fr|Écris un poème sur la mer pour les enfants.
fr|Pourquoi le ciel est bleu le matin ?
es|¿Cómo puedo cambiar la dirección de mi pedido?
es|¿Cuál es la capital de Hungría?
es|Escribe un cuento sobre un perro en la ciudad.
es|¿Cuántas calorías tiene una manzana con la piel?
it|Come posso cambiare la password del mio conto?
it|Qual è la capitale della Grecia?
pt|Como posso cancelar a minha assinatura sem custos?
pt|Qual é a capital da Noruega?
nl|Hoe kan ik mijn wachtwoord voor het portaal wijzigen?
nl|Wat is de hoofdstad van Estland?
pl|Jak mogę zmienić hasło do konta w portalu?
sv|Hur kan jag byta lösenord för mitt konto?
ru|Как мне изменить пароль на портале?
ru|Какая столица у Норвегии и что там есть?
tr|Bu hesap için şifre nasıl değiştirilir?
ja|パスワードを変更する方法を教えてください
ja|富士山の高さは何メートルですか
zh|如何在手机上修改密码
zh|法国的首都是哪里
ko|비밀번호를 어떻게 변경합니까
ar|كيف يمكنني تغيير كلمة المرور
`
/** Requests with code; each has its block behind a blank line. */
export const CODE = `
Find the bug in this function.
Explain this code to a beginner.
Write tests for the following code.
Rewrite this function without the loop.
Add type hints to the code below.
Why does this code fail on an empty list?
Convert this code to Rust.
What is the output of this program?
Make this function faster.
Add comments to this code.
Review this code for security problems.
Does this code leak memory?
`
export const BLOCKS = [
  ['total = 0', 'for item in items:', '    total += item.price', 'print(total)'],
  ['function sum(a, b) {', '  return a + b', '}'],
  ['SELECT name', 'FROM users', 'WHERE age > 21', 'ORDER BY name'],
] as const
