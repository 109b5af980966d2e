import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {readRequest, sharedKey} from '../identity/saml/idp.ts'
import {openSamlify} from '../identity/saml/samlify-idp.ts'

/** An identity provider with pages: a form for the address and a group, then one that posts the answer by itself. */
export interface SamlProvider {
  readonly metadata: string
  /** The attribute in which the group is. */
  readonly groups_attribute: string
  close(): Promise<void>
}

/**
 * samlify behind the pages. It is at `localhost`, which is another site than the 127.0.0.1 of the gateway, as a
 * provider is.
 */
export async function startSamlify(own_metadata: () => string): Promise<SamlProvider> {
  const server = createServer(async (request, reply) => {
    const url = new URL(request.url!, site)
    reply.setHeader('content-type', 'text/html; charset=utf-8')
    if (request.method === 'GET') return void reply.end(askingPage(url.search))
    let body = ''
    for await (const chunk of request) body += chunk
    const [email, group] = ['email', 'groups'].map(name => new URLSearchParams(body).get(name)!) as [string, string]
    const samlify = openSamlify(sharedKey(), own_metadata(), {group})
    try {
      const SAMLResponse = await samlify.answer(url.href, email, true)
      const {acs_url, relay_state} = readRequest(url.href)
      reply.end(answeringPage(acs_url, {SAMLResponse, RelayState: relay_state}))
    } catch (fault) {
      reply.writeHead(500).end(String(fault))
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const site = `http://localhost:${(server.address() as AddressInfo).port}`
  const {metadata} = openSamlify(sharedKey(), own_metadata())
  return {
    metadata: metadata.replace('Location="https://samlify.example.test/sso"', `Location="${site}/sso"`),
    groups_attribute: 'groups',
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function askingPage(search: string): string {
  return page(
    `<form method="post" action="/sso${search.replaceAll('&', '&amp;')}">` +
      '<input name="email"><input name="groups"><button>Enter</button></form>',
  )
}

function answeringPage(url: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
  return page(
    `<form method="post" action="${url}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`,
  )
}

function page(body: string): string {
  return `<!doctype html><link rel="icon" href="data:,"><title>Provider</title>${body}`
}
