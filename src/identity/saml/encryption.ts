import type {KeyObject} from 'node:crypto'
import {encryptionLibrary} from './libraries.ts'
import {ASSERTION, DSIG, XMLENC, XMLENC11} from './names.ts'
import {attributeOf, childrenNamed, elementsIn, isNamed, onlyChild, type XmlElement} from './xml.ts'

/** The shape, an algorithm or the decryption itself failed; it does not show which of them. */
export class DecryptionFault extends Error {
  override readonly name = 'DecryptionFault'
}

const GCM: ReadonlySet<string | null> = new Set([`${XMLENC11}aes128-gcm`, `${XMLENC11}aes256-gcm`])
const CBC: ReadonlySet<string | null> = new Set([`${XMLENC}aes128-cbc`, `${XMLENC}aes256-cbc`])
const OAEP = `${XMLENC}rsa-oaep-mgf1p`
const OAEP11 = `${XMLENC11}rsa-oaep`
const OAEP_DIGESTS: ReadonlySet<string | null> = new Set([`${DSIG}sha1`, `${XMLENC}sha256`])
const MASKS: ReadonlySet<string | null> = new Set([`${XMLENC11}mgf1sha1`, `${XMLENC11}mgf1sha256`])
const GCM_EXTRA_BYTES = 12 + 16
const BLOCK_BYTES = 16

/**
 * The text inside of an EncryptedAssertion. AES-GCM under RSA-OAEP; AES-CBC, which anybody may change unseen, only with
 * `allow_cbc`. Throws a `DecryptionFault`.
 */
export async function decrypted(container: XmlElement, key: KeyObject, allow_cbc: boolean): Promise<string> {
  checkEncryption(container, allow_cbc)
  const library = await encryptionLibrary()
  const options = {
    key: key.export({type: 'pkcs8', format: 'pem'}) as string,
    disallowDecryptionWithInsecureAlgorithm: false,
    warnInsecureAlgorithm: false,
  }
  return await new Promise<string>((resolve, reject) => {
    // a copy of the element alone: the library looks for its parts in the whole document
    library.decrypt(String(container.node), options, (fault, text) => {
      if (fault || typeof text !== 'string') reject(new DecryptionFault('not decrypted'))
      else resolve(text)
    })
  }).catch(() => {
    throw new DecryptionFault('not decrypted')
  })
}

/** The library takes the first of anything: there has to be one data, one key and one value of each. */
function checkEncryption(container: XmlElement, allow_cbc: boolean): void {
  const data = onlyChild(container, XMLENC, 'EncryptedData')
  const method = data && onlyChild(data, XMLENC, 'EncryptionMethod')
  const keys = [...elementsIn(container)].filter(({name}) => name === 'EncryptedKey')
  const value = data && cipherValue(data)
  if (!isNamed(container, ASSERTION, 'EncryptedAssertion') || !data || !method || keys.length !== 1 || !value)
    throw new DecryptionFault('shape')
  const [key] = keys
  if (!isNamed(key!, XMLENC, 'EncryptedKey') || !isKeyOf(key!, container, data)) throw new DecryptionFault('key')
  const algorithm = attributeOf(method, 'Algorithm')
  const bytes = Buffer.from(value, 'base64').length
  const is_gcm = GCM.has(algorithm) && bytes > GCM_EXTRA_BYTES
  const is_cbc = allow_cbc && CBC.has(algorithm) && bytes >= 2 * BLOCK_BYTES && bytes % BLOCK_BYTES === 0
  if (!is_gcm && !is_cbc) throw new DecryptionFault('algorithm')
  checkKeyMethod(key!)
}

/** The key is in the KeyInfo of the data, or beside the data, which then refers to it. */
function isKeyOf(key: XmlElement, container: XmlElement, data: XmlElement): boolean {
  const info = onlyChild(data, DSIG, 'KeyInfo')
  if (!info) return false
  if (info.children.includes(key)) return true
  const reference = onlyChild(info, DSIG, 'RetrievalMethod')
  const id = attributeOf(key, 'Id')
  return container.children.includes(key) && id !== null && reference?.attributes.get('URI') === `#${id}`
}

function checkKeyMethod(key: XmlElement): void {
  const method = onlyChild(key, XMLENC, 'EncryptionMethod')
  const algorithm = method ? attributeOf(method, 'Algorithm') : null
  if (!method || !cipherValue(key) || (algorithm !== OAEP && algorithm !== OAEP11)) throw new DecryptionFault('key')
  const digests = childrenNamed(method, DSIG, 'DigestMethod')
  const masks = childrenNamed(method, XMLENC11, 'MGF')
  const is_accepted =
    digests.length <= 1 &&
    masks.length <= (algorithm === OAEP11 ? 1 : 0) &&
    digests.every(each => OAEP_DIGESTS.has(attributeOf(each, 'Algorithm'))) &&
    masks.every(each => MASKS.has(attributeOf(each, 'Algorithm'))) &&
    method.children.length === digests.length + masks.length
  if (!is_accepted) throw new DecryptionFault('key')
}

function cipherValue(element: XmlElement): string | undefined {
  const data = onlyChild(element, XMLENC, 'CipherData')
  const value = data && onlyChild(data, XMLENC, 'CipherValue')
  return value && value.children.length === 0 && data.children.length === 1 ? value.text : undefined
}
