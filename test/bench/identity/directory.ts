import {administer} from '../subjects/gateway.ts'

/** A directory that speaks SCIM with a gateway. */
export interface ScimClient {
  /** Makes a user or a group, and gives its id. */
  make(path: string, body: object): Promise<string>
  /** Does one operation to a resource, and gives the milliseconds that it took. */
  patch(path: string, operation: object): Promise<number>
}

export async function directoryAt(origin: string): Promise<ScimClient> {
  const {token} = await administer(origin)<{token: string}>('POST', '/admin/organisation/scim-tokens', {name: 'bench'})
  const ask = async (method: string, path: string, body: object): Promise<string> => {
    const reply = await fetch(`${origin}/scim/v2${path}`, {
      method,
      headers: {authorization: `Bearer ${token}`, 'content-type': 'application/scim+json'},
      body: JSON.stringify(body),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path} answers ${reply.status}: ${text.slice(0, 500)}`)
    return text
  }
  return {
    make: async (path, body) => (JSON.parse(await ask('POST', path, body)) as {id: string}).id,
    async patch(path, operation) {
      const began_ms = performance.now()
      const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp']
      await ask('PATCH', path, {schemas, Operations: [operation]})
      return performance.now() - began_ms
    },
  }
}
