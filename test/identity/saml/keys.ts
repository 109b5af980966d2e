import {execFileSync} from 'node:child_process'
import {createPrivateKey, createPublicKey, type KeyObject} from 'node:crypto'
import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'

/** A key with a certificate that it signs itself, made by openssl. */
export interface CertifiedKey {
  readonly private_pem: string
  readonly certificate_pem: string
  /** The certificate as metadata and KeyInfo have it. */
  readonly certificate: string
  readonly private_key: KeyObject
  readonly public_key: KeyObject
}

const KINDS = {
  rsa: ['-newkey', 'rsa:2048'],
  weak: ['-newkey', 'rsa:1024'],
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
} as const

export function makeCertifiedKey(kind: keyof typeof KINDS = 'rsa', name = 'idp.example.test'): CertifiedKey {
  const folder = mkdtempSync(join(tmpdir(), 'saml-'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const files = ['-keyout', key, '-out', certificate]
  execFileSync(
    'openssl',
    ['req', '-x509', '-nodes', '-days', '365', '-sha256', '-subj', `/CN=${name}`, ...KINDS[kind], ...files],
    {stdio: 'ignore'},
  )
  const [private_pem, certificate_pem] = [readFileSync(key, 'utf8'), readFileSync(certificate, 'utf8')]
  rmSync(folder, {recursive: true})
  return {
    ...{private_pem, certificate_pem},
    certificate: certificate_pem.replace(/-----[A-Z ]+-----|\s/g, ''),
    private_key: createPrivateKey(private_pem),
    public_key: createPublicKey(certificate_pem),
  }
}
