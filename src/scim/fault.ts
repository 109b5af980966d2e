/** RFC 7644 §3.12. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness'

/** A refusal in the protocol's own form. `detail` reaches the directory. */
export class ScimFault extends Error {
  readonly status: number
  readonly scim_type: ScimType | null

  constructor(status: number, detail: string, scim_type: ScimType | null = null) {
    super(detail)
    this.name = 'ScimFault'
    this.status = status
    this.scim_type = scim_type
  }
}

export const badRequest = (scim_type: ScimType, detail: string) => new ScimFault(400, detail, scim_type)

/** RFC 7644 §3.12; the status is text. */
export function faultBody({status, scim_type, message}: ScimFault) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scim_type && {scimType: scim_type}),
    detail: message,
  }
}
