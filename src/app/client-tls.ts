import {createPrivateKey, X509Certificate} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {SettingsFault} from '../settings/index.ts'

/** A file of PEM that a setting names. */
export interface PemFile {
  readonly path: string
  /** How the operator gave it, for a sentence. */
  readonly as: string
}

/** For a server that the operator named: the authorities of its certificate, and the certificate of the gateway. */
export interface PemFiles {
  readonly ca: PemFile | undefined
  readonly cert: PemFile | undefined
  readonly key: PemFile | undefined
  /** The kind of server, for a sentence: `OTLP`. */
  readonly of: string
}

export interface ClientTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The texts of the files. Refuses (SettingsFault) those that cannot be read, and a key of another certificate. */
export function readClientTls(files: PemFiles): ClientTls {
  const wrong: string[] = []
  const [ca, cert, key] = (['ca', 'cert', 'key'] as const).map(name => readPem(files[name], name === 'key', wrong))
  if (wrong.length > 0) throw new SettingsFault(wrong)
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new SettingsFault([`The ${files.of} client certificate is not that of its key.`])
  return {...(ca !== undefined && {ca}), ...(cert !== undefined && {cert}), ...(key !== undefined && {key})}
}

function readPem(file: PemFile | undefined, is_key: boolean, wrong: string[]): string | undefined {
  if (!file) return undefined
  try {
    const text = readFileSync(file.path, 'utf8')
    // a context alone says nothing of authorities that are no certificates
    if (is_key) createPrivateKey(text)
    else new X509Certificate(text)
    return text
  } catch (fault) {
    const {code, syscall} = fault as NodeJS.ErrnoException
    wrong.push(
      syscall
        ? `The file of ${file.as} cannot be read: ${code}.`
        : `The file of ${file.as} holds no PEM ${is_key ? 'key' : 'certificate'}.`,
    )
    return undefined
  }
}
