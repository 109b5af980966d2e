const MASK = '***'
/** Comes before a sealed segment in an address of ours, which who has it may call. */
const SEALED = '/sealed/'
const SEALED_SEGMENT = /\/sealed\/[^/?#\s]+/g
/** Signs before which members may begin, also when the sign itself is encoded. */
const BEGINS = /[?#;]|%(?:25)*(?:3[bf]|23)/i
/** Parts of a member's text that may hold another `name=value`: a URL in a URL. */
const PARTS = /[?&;#,|<>"'\s]+/
/** Levels of percent-encoding that are looked through: a proxy on the way may take off one. */
const MAX_DECODED = 3
/** A member without a name that is this long may well be a key. */
const MIN_BARE_SECRET = 20

/** Names in letters alone, lower case. */
const SECRET_WORD =
  /^(?:auth|code|credentials?|hmac|jwt|keypairid|otp|pass|pwd|sas|sign|xauth)$|key$|sig$|token|secret|signature|passwor|passwd|passphrase|credential|authorization|bearer|cookie|session|accesskey|apikey|xamz|xgoog|sharedaccess|clientassertion/
/** Counts of tokens and places in a list are none. */
const HARMLESS_WORD =
  /^(?:max|min|num|total|input|output|prompt|completion|reasoning|budget)[a-z]*tokens?$|^(?:next)?(?:page|sync)?token$/
const NEVER_HARMLESS = /^token$/

/**
 * A URL as it may be kept, shown or logged: values of query members that carry keys, tokens or signatures are masked,
 * however their names are written: in capitals, percent-encoded, with brackets, in a URL inside of a value, behind a
 * semicolon. So is a sealed segment of an address of ours.
 */
export function maskedUrl(named: string): string {
  const url = named.includes(SEALED) ? named.replace(SEALED_SEGMENT, `${SEALED}${MASK}`) : named
  const mark = url.search(BEGINS)
  if (mark < 0) return url
  return url.slice(0, mark) + url.slice(mark).split('&').map(maskedMember).join('&')
}

function maskedMember(member: string): string {
  const plain = decoded(member)
  const equals = member.indexOf('=')
  if (equals < 0 && member.length >= MIN_BARE_SECRET && /^[?#;]?[\w~.-]+$/.test(member)) return sign(member) + MASK
  if (!plain.split(PARTS).some(isSecretPart)) return member
  const name = equals < 0 ? '' : member.slice(0, equals + 1)
  // an encoded name may hold the secret itself
  return /%(?:25)*3d/i.test(name) || name === '' ? sign(member) + MASK : name + MASK
}

/** The sign that the member begins with, where it does. */
function sign(member: string): string {
  return /^[?#;]/.test(member) ? member[0]! : ''
}

function isSecretPart(part: string): boolean {
  const equals = part.indexOf('=')
  return equals > 0 && isSecretMember(part.slice(0, equals))
}

/** True for the name of a query member whose value is a secret. */
export function isSecretMember(name: string): boolean {
  const word = name.replace(/[^a-z]/gi, '').toLowerCase()
  return SECRET_WORD.test(word) && (NEVER_HARMLESS.test(word) || !HARMLESS_WORD.test(word))
}

/** Percent signs that stand for nothing stay. */
function decoded(text: string): string {
  let plain = text
  for (let times = 0; times < MAX_DECODED && plain.includes('%'); times++)
    plain = plain.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return plain
}
