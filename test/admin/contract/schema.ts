/** As much of a JSON schema as fields are looked for in. */
export interface Schema {
  readonly type?: string
  readonly properties?: Record<string, Schema>
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** An operation of the document. */
export interface Described {
  readonly parameters: readonly {readonly name: string; readonly in: string}[]
  readonly requestBody?: {readonly content: {readonly 'application/json': {readonly schema: Schema}}}
  readonly responses: {readonly 200: {readonly content: {readonly 'application/json': {readonly schema: Schema}}}}
}

/** True when the schema has the field; `data[].id` goes through a list. */
export function knows(schema: Schema, field: string): boolean {
  const steps = field.split('.').flatMap(part => part.split(/(\[\])/).filter(Boolean))
  let nodes = forms(schema)
  for (const step of steps) nodes = nodes.flatMap(node => below(node, step)).flatMap(forms)
  return nodes.length > 0
}

function below(node: Schema, step: string): Schema[] {
  const next = step === '[]' ? node.items : (node.properties?.[step] ?? node.additionalProperties)
  return typeof next === 'object' ? [next] : next === true ? [{}] : []
}

function forms(schema: Schema): Schema[] {
  return [schema, ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(forms)]
}
