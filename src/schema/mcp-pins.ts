import {z} from 'zod'
import {parsedObject} from '../base/json-object.ts'

/** How the definitions of capabilities are held to what was approved (`configurations` of an MCP integration). */

export const ToolPinning = z.enum(['off', 'warn', 'enforce'])
export const NewCapabilities = z.enum(['allow', 'deny'])

export interface PinRules {
  /** `warn`: a change is reported. `enforce`: what changed, or is new, is hidden and refused until it is approved. */
  readonly tool_pinning: z.output<typeof ToolPinning>
  /** `deny`: what first appears after the first sync is switched off. */
  readonly new_capabilities: z.output<typeof NewCapabilities>
  /** Lists may differ by the person who asks: a capability may have several approved definitions. */
  readonly per_principal: boolean
}

/** The rules of an integration, by its columns; a value that is none counts as missing. */
export function pinRulesOf(row: {readonly auth_type: string; readonly configurations: string}): PinRules {
  const configurations = parsedObject(row.configurations) ?? {}
  const {tool_pinning, new_capabilities, user_identity_forwarding} = configurations
  return {
    tool_pinning: ToolPinning.safeParse(tool_pinning).data ?? 'warn',
    new_capabilities: NewCapabilities.safeParse(new_capabilities).data ?? 'allow',
    per_principal: row.auth_type === 'oauth_auto' || (user_identity_forwarding ?? null) !== null,
  }
}

/** Characters of a hash: SHA-256 in hexadecimal. */
export const DefinitionHash = z.string().regex(/^[0-9a-f]{64}$/, 'expected the 64 hexadecimal digits of a hash')

/** One value that differs; a side without the member has no value there. Long values are cut, or written as text. */
export const Difference = z.strictObject({
  /** A JSON Pointer into the definition. */
  path: z.string(),
  was: z.unknown().optional(),
  is: z.unknown().optional(),
})

/** The pin of a capability; null before it was first read by a sync. */
export const CapabilityPin = z.strictObject({
  /** `gone`: its server offers it no more; its approval holds when it comes back. */
  state: z.enum(['approved', 'changed', 'new', 'gone']),
  /** Of the definition that was approved last. */
  hash: DefinitionHash.nullable(),
  /** Of the newest definition that is not approved: to be sent as `approved_hash`. */
  seen_hash: DefinitionHash.nullable(),
  seen_at: z.iso.datetime().nullable(),
  /** From the approved definition to the one that was seen. */
  difference: z.array(Difference),
  /** Further definitions that were seen and are not approved. */
  other_seen_hashes: z.array(DefinitionHash),
  /** Texts in it that read like orders to a model. */
  suspicions: z.array(z.strictObject({path: z.string(), rules: z.array(z.string())})),
})

/** A change of what a server offers, for the mail of an organisation. */
export interface PinAlert {
  readonly integration: {
    readonly id: string
    readonly slug: string
    readonly organisation_id: string
    readonly workspace_id: string | null
  }
  /** Names of capabilities that are defined otherwise than approved, or with `enforce` are new. */
  readonly changed: readonly string[]
  /** Names of those whose texts read like orders to a model. */
  readonly suspicious: readonly string[]
  /** They are hidden and refused. */
  readonly is_quarantined: boolean
}
