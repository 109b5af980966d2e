import {expect, test} from 'vitest'
import {seeded} from '../../../src/base/seeded-random.ts'
import {readMetadata} from '../../../src/identity/saml/metadata.ts'
import {verifiedResponse} from '../../../src/identity/saml/response.ts'
import {SignInFault} from '../../../src/identity/sign-in-fault.ts'
import {SAML_DEFAULTS} from '../../../src/schema/connections.ts'
import type {Answer} from './idp.ts'
import {makeCertifiedKey} from './keys.ts'
import {ACS, AUDIENCE, NOW_MS, openIdp, REQUEST, REQUEST_ID} from './sign-in.ts'

const ROUNDS = 400
const OURS = makeCertifiedKey('rsa', 'gateway.example.test')
const idp = openIdp()

test.each<[string, Answer]>([
  ['assertion signed', {sign: 'assertion'}],
  ['response signed', {sign: 'response'}],
  ['both signed', {sign: 'both'}],
  ['encrypted', {encrypt: OURS}],
  ['a signed Response around an encrypted assertion', {sign: 'response', encrypt: OURS}],
])('%s: a document that chance changed says the same, or lets nobody in', async (name, answer) => {
  const provider = await readMetadata(idp.metadata, null, NOW_MS)
  const settings = {...SAML_DEFAULTS, groups_attribute: 'groups'}
  const judged = async (bytes: Buffer) =>
    await verifiedResponse({
      ...{saml_response: bytes.toString('base64'), provider, settings, recipients: [ACS], audiences: [AUDIENCE]},
      ...{expected_request_id: (id: string) => id === REQUEST_ID, now_ms: NOW_MS},
      decryption_key: OURS.private_key,
    })
  const attributes = {email: 'mia@example.test', groups: ['a', 'b'], givenName: 'Mia'}
  const xml = await idp.respond(REQUEST, {...answer, attributes})
  const genuine = (await judged(Buffer.from(xml))).statement
  const random = seeded(name)
  let refused = 0
  for (let round = 0; round < ROUNDS; round++) {
    try {
      expect((await judged(changedByChance(xml, random))).statement).toEqual(genuine)
    } catch (fault) {
      if (!(fault instanceof SignInFault)) throw fault
      refused++
    }
  }
  expect(refused).toBeGreaterThan(ROUNDS / 2)
})

/** A byte, a piece, an element or an attribute is changed, left out, doubled or moved. */
function changedByChance(xml: string, random: () => number): Buffer {
  const at = (length: number) => Math.floor(random() * length)
  const pieces = xml.split(/(?=<)|(?= \w+=)/)
  const [one, other] = [at(pieces.length), at(pieces.length)]
  const piece = pieces[one]!
  switch (at(7)) {
    case 0: {
      const bytes = Buffer.from(xml)
      bytes[at(bytes.length)] = at(256)
      return bytes
    }
    case 1:
      pieces.splice(one, 1)
      break
    case 2:
      pieces.splice(other, 0, piece)
      break
    case 3:
      pieces.splice(one, 1)
      pieces.splice(other, 0, piece)
      break
    case 4:
      pieces[one] = `<!--x-->${piece}`
      break
    case 5: {
      const elements = [...xml.matchAll(/<(\w+:\w+)[^>]*>.*?<\/\1>/gs)]
      const [element] = elements[at(elements.length)]!
      return Buffer.from(pieces.with(other, element + pieces[other]).join(''))
    }
    default:
      pieces[one] = piece.replaceAll('mia', 'olga').replace(/\d/, String(at(10)))
  }
  return Buffer.from(pieces.join(''))
}
