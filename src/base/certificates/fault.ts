/** A certificate cannot be made or used; the message is a sentence for the operator, `next` the step after it. */
export class CertificateFault extends Error {
  readonly code: 'host' | 'clock' | 'authority' | 'certificate' | 'lifetime'
  readonly next: string | undefined

  constructor(code: CertificateFault['code'], message: string, next?: string) {
    super(message)
    this.name = 'CertificateFault'
    this.code = code
    this.next = next
  }
}
