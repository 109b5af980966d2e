import {z} from 'zod'
import {secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {dig, entriesOf} from './reading.ts'

const PII = ["Person's Name", 'Address', 'Email Id', 'Contact No', 'Date Of Birth', 'Unique Id', 'Financial Data']
const list = (fallback: string[], what: string) => z.array(z.string().min(1)).default(fallback).describe(what)

/** Source: Walled AI API, `POST /v1/walled-protect`. */
export const walledai = partner({
  id: 'walledai.walledprotect',
  title: 'Walled AI',
  about: 'Passes what is found safe.',
  sides: BOTH,
  credentials: {apiKey: secret('API key.')},
  shape: {
    generic_safety_check: z.boolean().default(true).describe('Looks for unsafe content.'),
    greetings_list: list(['Casual & Friendly'], 'Greetings to tell apart.'),
    pii_list: list(PII, 'Personal data to look for.'),
    compliance_list: list([], 'Topics to keep to.'),
  },
  ask: ({text, credentials, parameters: {generic_safety_check, greetings_list, pii_list, compliance_list}}) => ({
    url: 'https://services.walled.ai/v1/walled-protect',
    headers: {'x-api-key': credentials.apiKey},
    body: {text, generic_safety_check, greetings_list, pii_list, compliance_list},
  }),
  read([reply]) {
    const safety = dig(reply, 'data', 'safety')
    if (!Array.isArray(safety)) throw unknownForm('Walled AI')
    const is_unsafe = entriesOf(safety).some(each => dig(each, 'isSafe') === false)
    return {passes: !is_unsafe, labels: is_unsafe ? ['unsafe'] : []}
  },
})
