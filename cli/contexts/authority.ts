import {X509Certificate} from 'node:crypto'
import {getCACertificates} from 'node:tls'
import type {Environment} from '../environment.ts'
import {usageFault} from '../fault.ts'
import {fileText} from '../options.ts'

const PEM = /-----BEGIN CERTIFICATE-----[^-]{1,65536}-----END CERTIFICATE-----/g

/**
 * The certificates of authorities to trust, PEM: the usual ones, and those of a file. Undefined without a file.
 * `option`: how the file was named.
 */
export function authoritiesIn(
  {readFile}: Pick<Environment, 'readFile'>,
  path: string | undefined,
  option: string,
): readonly string[] | undefined {
  if (path === undefined) return undefined
  const found = fileText({readFile} as Environment, path, option).match(PEM) ?? []
  if (!found.length || !found.every(isCertificate)) throw usageFault(`${option} ${path} holds no certificates in PEM.`)
  return [...getCACertificates('default'), ...found]
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
