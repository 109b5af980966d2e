import {type ChildProcess, spawn, spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {sharedKey} from '../identity/saml/idp.ts'
import {freePort} from '../support/sign-in.ts'
import type {SamlProvider} from './real-samlify.ts'

const PYTHON = '/usr/bin/python3'
const XMLSEC = '/usr/bin/xmlsec1'
/** isMemberOf of eduMember, as the maps of pysaml2 have it. */
const IS_MEMBER_OF = 'urn:oid:1.3.6.1.4.1.5923.1.5.1.1'

/** These tests are left out where the provider of Debian is not there: no run requires it. */
export const NO_PYSAML2 =
  !existsSync(XMLSEC) || spawnSync(PYTHON, ['-c', 'import saml2.server'], {stdio: 'ignore'}).status !== 0
if (NO_PYSAML2)
  console.warn(
    'tests with pysaml2 as identity provider are left out: it is not there (Debian: python3-pysaml2, xmlsec1)',
  )

/** pysaml2 with xmlsec1 (libxml2): a program of its own, with pages at `localhost`. */
export async function startPysaml2(own_metadata: string): Promise<SamlProvider> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pysaml2-'))
  const at = (name: string) => join(folder, name)
  const port = await freePort()
  const {private_pem, certificate_pem} = sharedKey()
  for (const [name, text] of Object.entries({
    'key.pem': private_pem,
    'certificate.pem': certificate_pem,
    'gateway.xml': own_metadata,
    'idp.py': PROGRAM,
  }))
    writeFileSync(at(name), text)
  const options = [at('idp.py'), folder, String(port), XMLSEC]
  const child = spawn(PYTHON, options, {stdio: ['ignore', 'pipe', 'pipe']})
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const close = async () => {
    kill()
    await ended
    process.off('exit', kill)
    rmSync(folder, {recursive: true, force: true})
  }
  try {
    return {metadata: await metadataOf(child), groups_attribute: IS_MEMBER_OF, close}
  } catch (fault) {
    await close()
    throw fault
  }
}

/** The program writes one line once it listens: its metadata, as JSON. */
async function metadataOf({stdout, stderr}: ChildProcess): Promise<string> {
  const complaints: string[] = []
  stderr!.on('data', chunk => void complaints.push(String(chunk)))
  for await (const line of createInterface({input: stdout!})) return JSON.parse(line) as string
  throw new Error(`pysaml2 ended: ${complaints.join('')}`)
}

const PROGRAM = `
import html, json, sys, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import create_metadata_string
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NAME_FORMAT_URI, NameID
from saml2.server import Server
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256
from saml2.sigver import verify_redirect_signature

folder, port, xmlsec = sys.argv[1], int(sys.argv[2]), sys.argv[3]
site = 'http://localhost:%d' % port
config = {
    'entityid': site + '/idp',
    'xmlsec_binary': xmlsec,
    'key_file': folder + '/key.pem',
    'cert_file': folder + '/certificate.pem',
    'metadata': {'local': [folder + '/gateway.xml']},
    'service': {
        'idp': {
            'endpoints': {'single_sign_on_service': [(site + '/sso', BINDING_HTTP_REDIRECT)]},
            'policy': {'default': {'lifetime': {'minutes': 5}, 'name_form': NAME_FORMAT_URI}},
        },
    },
}
idp = Server(config=IdPConfig().load(config))
PAGE = '<!doctype html><link rel="icon" href="data:,"><title>Provider</title>'

class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        self.page('<form method="post" action="%s"><input name="email"><input name="groups">'
                  '<button>Enter</button></form>'
                  % html.escape(self.path))

    def do_POST(self):
        try:
            self.answer()
        except Exception:
            self.page('<pre>%s</pre>' % html.escape(traceback.format_exc()))

    def answer(self):
        form = parse_qs(self.rfile.read(int(self.headers['content-length'])).decode())
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        ask = idp.parse_authn_request(query['SAMLRequest'], BINDING_HTTP_REDIRECT).message
        # this library looks for signatures in documents; the one of an address is left to its caller
        [certificate] = idp.metadata.certs(ask.issuer.text, 'spsso', 'signing')
        if not verify_redirect_signature(query, idp.sec.sec_backend, certificate):
            raise ValueError('the request is not signed by the gateway')
        email = form['email'][0]
        groups = form.get('groups', [])
        uid = email.split('@')[0]
        identity = {'mail': [email], 'givenName': ['Mia'], 'sn': ['Moll-' + uid], 'uid': [uid],
                    'isMemberOf': groups}
        # its own choice is SHA-1, which the gateway does not take
        algorithms = {} if uid == 'oldest' else {'sign_alg': SIG_RSA_SHA256, 'digest_alg': DIGEST_SHA256}
        answer = idp.create_authn_response(
            identity=identity, userid=uid, in_response_to=ask.id,
            destination=ask.assertion_consumer_service_url, sp_entity_id=ask.issuer.text,
            name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text='lasting-' + uid),
            authn={'class_ref': 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password', 'authn_auth': site},
            sign_response=True, sign_assertion=True, **algorithms)
        binding = idp.apply_binding(
            BINDING_HTTP_POST, str(answer), ask.assertion_consumer_service_url, query['RelayState'], response=True)
        self.page(binding['data'])

    def page(self, body):
        self.send_response(200)
        self.send_header('content-type', 'text/html; charset=utf-8')
        self.end_headers()
        self.wfile.write((PAGE + body if '<html' not in body.lower() else body).encode())

    def log_message(self, *words):
        pass

server = ThreadingHTTPServer(('127.0.0.1', port), Pages)
print(json.dumps(str(create_metadata_string(None, config=idp.config, sign=False), 'utf8')), flush=True)
server.serve_forever()
`
