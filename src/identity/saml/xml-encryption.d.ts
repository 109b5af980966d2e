/** The part of the package that is used here; it has no types of its own. */
declare module 'xml-encryption' {
  interface DecryptionOptions {
    readonly key: string
    readonly disallowDecryptionWithInsecureAlgorithm: boolean
    readonly warnInsecureAlgorithm: boolean
  }
  interface EncryptionOptions {
    readonly rsa_pub: string
    readonly pem: string
    readonly encryptionAlgorithm: string
    readonly keyEncryptionAlgorithm: string
    readonly keyEncryptionDigest?: string
    readonly keyEncryptionMgf?: string
    readonly disallowEncryptionWithInsecureAlgorithm?: boolean
    readonly warnInsecureAlgorithm?: boolean
  }
  type Answer = (fault: Error | null, text?: string) => void
  const library: {
    decrypt(xml: string, options: DecryptionOptions, answer: Answer): void
    encrypt(text: string, options: EncryptionOptions, answer: Answer): void
  }
  export default library
}
