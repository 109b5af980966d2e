/**
 * The libraries for XML, each loaded at its first use: most installations have no SAML, and serving does not wait for
 * what it never needs. They are CommonJS: of such modules the bundle has the whole alone, under `default`.
 */

/** Parses XML that `checkMarkup` took; `xmldom` mends or guesses all else. */
export async function xmlParser() {
  const {default: library} = await import('@xmldom/xmldom')
  return library.DOMParser
}

/** Canonical forms. Signatures themselves are verified here, with nothing that the library would choose. */
export async function signatureLibrary() {
  const {default: library} = await import('xml-crypto')
  return library
}

/** Decryption (XML-Enc). */
export async function encryptionLibrary() {
  const {default: library} = await import('xml-encryption')
  return library
}
