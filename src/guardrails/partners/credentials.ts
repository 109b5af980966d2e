import {z} from 'zod'
import type {CheckContext, SecretReference} from '../check.ts'
import {CheckFault} from '../fault.ts'

/** Something that a partner knows its customer by, or is reached by. */
export interface Credential {
  readonly about: string
  /** Sealed in the store, and never shown. */
  readonly is_secret: boolean
  readonly is_required: boolean
  readonly fallback: string
  readonly schema: z.ZodType<string | SecretReference>
}

/** Credentials by name, as they were written. */
export type PartnerCredentials = Readonly<Record<string, string | SecretReference | undefined>>

const visible = z
  .string()
  .trim()
  .min(1)
  .max(16_384)
  .regex(/^[\x20-\x7e]+$/, 'must be visible ASCII characters on one line')
const reference = z.strictObject({
  secret_reference_id: z.string().min(1).max(255),
  secret_key: z.string().min(1).max(255).optional(),
})

export function secret(about: string): Credential {
  return {
    about,
    is_secret: true,
    is_required: true,
    fallback: '',
    schema: z.union([visible, reference]).describe(about).meta({writeOnly: true}),
  }
}

export function optionalSecret(about: string): Credential {
  return {...secret(about), is_required: false}
}

/** The address of an API: an http(s) URL, kept without a slash at its end. */
export function base(about: string, fallback = ''): Credential {
  const schema = visible
    .refine(isBase, 'must be an http or https URL without user name, query and fragment')
    .transform(url => url.replace(/\/+$/, ''))
  return {
    about,
    is_secret: false,
    is_required: !fallback,
    fallback,
    schema: schema.describe(about).meta({format: 'uri'}),
  }
}

/** A host name that is part of the URL of an API. */
export function host(about: string, fallback = ''): Credential {
  const schema = visible
    .transform(name => name.replace(/^https:\/\//i, '').replace(/\/+$/, ''))
    .refine(name => /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?::\d{1,5})?$/i.test(name), 'must be a host name')
  return {about, is_secret: false, is_required: !fallback, fallback, schema: schema.describe(about)}
}

/** One part of a host name or a path: a resource, a region. */
export function label(about: string, is_required = true): Credential {
  const schema = visible.refine(text => /^[\w-]{1,100}$/.test(text), 'must be letters, digits, - and _').describe(about)
  return {about, is_secret: false, is_required, fallback: '', schema}
}

export function credentialsParameter(credentials: Readonly<Record<string, Credential>>): z.ZodType<PartnerCredentials> {
  const shape = Object.fromEntries(Object.entries(credentials).map(([name, {schema}]) => [name, schema.optional()]))
  return z
    .strictObject(shape)
    .prefault({})
    .describe('What the partner knows you by.') as unknown as z.ZodType<PartnerCredentials>
}

/** The credentials to send; throws a `CheckFault` when one is missing. */
export async function resolved<Name extends string>(
  credentials: Readonly<Record<Name, Credential>>,
  given: PartnerCredentials,
  context: CheckContext,
): Promise<Readonly<Record<Name, string>>> {
  const entries = Object.entries<Credential>(credentials).map(async ([name, {is_required, fallback}]) => {
    const value = given[name]
    if (value === undefined && is_required)
      throw new CheckFault(`The credential ${name} is missing.`, 'ConfigurationError')
    return [
      name,
      value === undefined ? fallback : typeof value === 'string' ? value : await fetched(value, name, context),
    ] as const
  })
  return Object.fromEntries(await Promise.all(entries)) as Record<Name, string>
}

async function fetched(reference: SecretReference, name: string, {secret}: CheckContext): Promise<string> {
  let value: unknown
  try {
    value = await secret?.(reference)
  } catch {
    // No reason: it would show where secrets are kept.
  }
  const read = visible.safeParse(value)
  if (!read.success)
    throw new CheckFault(`The credential ${name} could not be had from its secret reference.`, 'ConfigurationError')
  return read.data
}

function isBase(url: string): boolean {
  if (!URL.canParse(url)) return false
  const {protocol, username, password, search, hash} = new URL(url)
  return (protocol === 'https:' || protocol === 'http:') && !username && !password && !search && !hash
}
