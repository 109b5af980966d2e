import {createHash, createHmac, randomInt, timingSafeEqual} from 'node:crypto'
import {Refusal} from '../base/errors.ts'
import {MailFault} from '../ports/mail/index.ts'
import {challengeOf} from '../schema/domains.ts'
import type {Db} from '../store/database.ts'
import * as store from '../store/domains.ts'
import {findOrganisation} from '../store/organisations.ts'
import {addFailure, failuresOf} from '../store/sign-in-failures.ts'
import type {DomainsTable} from '../store/tables/directories.ts'
import {ownDomain} from './domain-rules.ts'
import {auditTry, judgedTry, type ProofOutcome, proofsOf, refused, type VerifyCall} from './domain-tries.ts'
import {invalid} from './tenancy.ts'

const HOUR_MS = 3_600_000
const MOST_CODES = 3
/** Of all domains of an organisation: a claim that is deleted and made again does not begin at none. */
const MOST_CODES_OF_ALL = 20
const MOST_TRIES = 5
/** Consonants: no code spells a word, and no letter looks like another. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LETTERS = 10

/** Sends a code to the domain. It is kept as a hash, and never waits in a table: the mail goes out at once or not. */
export async function sendCode(call: VerifyCall, row: DomainsTable): Promise<void> {
  const {actor, app, db} = call
  const {mail} = proofsOf(call)
  const to = addressee(call, row)
  if (!mail) return refused(call, {outcome: 'no_mail', refusal: new Refusal('row.unfit', {reason: noMail(row)})})
  const letters = Array.from({length: CODE_LETTERS}, () => LETTERS[randomInt(LETTERS.length)]).join('')
  const ends_at = inAnHour(call)
  const refusal = await app.store.write(async writing => {
    const refusal = await countCode(call, writing, row)
    const code = {mail_code_hash: hashOf(call, row, letters), mail_code_ends_at: ends_at, mail_tries: 0}
    if (!refusal) await store.updateDomain(writing, row.id, code)
    await auditTry(call, writing, {outcome: refusal ? 'too_many_codes' : 'code_made', refusal})
    return refusal
  })
  if (refusal) throw refusal
  const organisation = (await findOrganisation(db, actor.organisation_id))?.name
  const facts = {domain: row.domain, code: `${letters.slice(0, 5)}-${letters.slice(5)}`, expires_at: ends_at}
  try {
    await mail(to, {...facts, name: organisation})
  } catch (fault) {
    if (!(fault instanceof MailFault)) throw fault
    await refused(call, {outcome: 'mail_failed', refusal: unsent(to, row, fault)})
  }
}

/** Tries a code that came by mail. */
export function tryCode(call: VerifyCall, before: DomainsTable, typed: string): Promise<void> {
  const {id} = before
  return judgedTry(call, before, async db => {
    const counts = await store.takeMailTry(db, id, {now: call.now, most: MOST_TRIES})
    const row = await ownDomain(call, db, id)
    if (!counts) return untried(call, db, row)
    const letters = typed.toUpperCase().replace(/[^A-Z]/g, '')
    if (isEqual(hashOf(call, row, letters), row.mail_code_hash!)) return {outcome: 'proven', refusal: null}
    const left = MOST_TRIES - Number(row.mail_tries)
    const next = left > 0 ? `It can be tried ${left} more ${left === 1 ? 'time' : 'times'}.` : ANOTHER
    return {outcome: 'wrong_code', refusal: new Refusal('domain.unproven', {reason: `The code is wrong. ${next}`})}
  })
}

const ANOTHER = 'Send {"method": "mail"} for another code.'

async function untried(call: VerifyCall, db: Db, row: DomainsTable): Promise<ProofOutcome> {
  const unproven = (reason: string) => new Refusal('domain.unproven', {reason: `${reason} ${ANOTHER}`})
  if (row.status === 'verified') return {outcome: 'verified_before', refusal: null}
  if (!row.mail_code_hash) return {outcome: 'no_code', refusal: unproven('No code was sent to this domain.')}
  if (row.mail_code_ends_at! <= call.now)
    return {outcome: 'code_ended', refusal: unproven(`The code ended at ${row.mail_code_ends_at}.`)}
  const sent = await failuresOf(db, keyOf(call, row.domain))
  const is_full = sent !== undefined && sent.count >= MOST_CODES
  return {
    outcome: 'too_many_tries',
    refusal: tooMany(call, `The code was tried ${MOST_TRIES} times. ${ANOTHER}`, is_full ? sent.expires_at : call.now),
  }
}

function addressee({body}: VerifyCall, row: DomainsTable): string {
  const {mail_to} = challengeOf(row)
  const {mail_to: given = mail_to[0]!} = body
  const to = mail_to.find(each => each === given.trim().toLowerCase())
  if (to === undefined) throw invalid('mail_to', `must be one of ${mail_to.join(', ')}`)
  return to
}

/** Counts a code; the refusal where there were too many. One that could not be sent counts: it may have come. */
async function countCode(call: VerifyCall, db: Db, {domain}: DomainsTable): Promise<Refusal | null> {
  const times = {now: call.now, expires_at: inAnHour(call)}
  for (const [key, most, of] of [
    [keyOf(call, domain), MOST_CODES, domain],
    [keyOf(call, ''), MOST_CODES_OF_ALL, 'this organisation'],
  ] as const) {
    if ((await addFailure(db, key, {...times, most})) !== null) continue
    const {expires_at} = (await failuresOf(db, key))!
    return tooMany(call, `${most} codes an hour are sent for ${of}, and they were.`, expires_at)
  }
  return null
}

function tooMany({now}: VerifyCall, reason: string, until: string): Refusal {
  const retry_after_s = Math.max(1, Math.ceil((Date.parse(until) - Date.parse(now)) / 1000))
  return new Refusal('domain.too_many', {reason: `${reason} Try again in ${retry_after_s} seconds.`, retry_after_s})
}

function noMail({domain}: DomainsTable): string {
  return (
    'No mail can be sent: this gateway has no mail server (SMTP_MAIL, SMTP_HOST). ' +
    'Prove the domain by its DNS record, ' +
    `or have the operator run gateway domains verify ${domain} on the data directory.`
  )
}

function unsent(to: string, {domain}: DomainsTable, {is_final}: MailFault): Refusal {
  const next = is_final
    ? `Name another of its addresses as mail_to, or prove ${domain} by its DNS record.`
    : 'Try again shortly; the log of the gateway has the cause.'
  const what = is_final ? `The mail server refuses mail to ${to}.` : `The mail to ${to} could not be sent.`
  return new Refusal('domain.unsent', {reason: `${what} ${next}`})
}

const inAnHour = ({now}: VerifyCall) => new Date(Date.parse(now) + HOUR_MS).toISOString()

/** Counts outlive the claim: one that is deleted and made again continues them. */
function keyOf({actor}: VerifyCall, domain: string): string {
  return createHash('sha256').update(`domain codes\0${actor.organisation_id}\0${domain}`).digest('hex')
}

/** With a key, as a code is short enough to be found by trying all. */
function hashOf({app}: VerifyCall, {id}: Pick<DomainsTable, 'id'>, letters: string): string {
  return createHmac('sha256', app.seal.derived('domain codes')).update(`${id}\0${letters}`).digest('hex')
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
