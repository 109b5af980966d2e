import {describe, expect, test} from 'vitest'
import {McpConfigurations} from '../../src/schema/mcp-configurations.ts'
import {explain} from '../../src/schema/validation-message.ts'

const ENDPOINTS = {authorization_endpoint: 'https://idp.example/a', token_endpoint: 'https://idp.example/t'}

function faultOf(value: object): string | null {
  const {error} = McpConfigurations.safeParse(value)
  return error ? explain(error, McpConfigurations, value, {root: 'configurations'}) : null
}

describe('configurations of an MCP integration', () => {
  test.each<object>([
    {},
    {custom_headers: {'X-A': '1'}, passthrough_header: {}, forward_headers: []},
    {forward_headers: ['x-a', {from: 'x-b', to: 'x-c'}]},
    {forward_headers: {mode: 'all-except', headers: ['cookie']}},
    {oauth_metadata: {client_id: 'a', authorization_params: {prompt: 'consent'}, redirect_uris: [], jwks_uri: 7}},
    {oauth_metadata: {resource: 'omit', token_endpoint_auth_method: 'client_secret_post', scope: 'a b'}},
    {user_identity_forwarding: {method: 'jwt_header', include_claims: ['sub'], header_name: 'X-Who'}},
    {jwt_validation: {jwks: '{"keys":[]}', maxTokenAge: '30m', claimValues: {a: {values: 1}}}},
    {jwt_validation: {jwksUri: 'https://idp.example/keys', algorithms: ['ES256']}},
    {jwt_validation: {introspectEndpoint: 'https://idp.example/i', introspectCacheMaxAge: 0}},
    {external_auth_config: ENDPOINTS},
    {tool_prices: {default: 0.5, tools: {search: 0}}, tool_pinning: 'enforce', new_capabilities: 'deny'},
  ])('%j is taken', value => {
    expect(faultOf(value)).toBeNull()
  })

  test('aliases are other spellings', () => {
    expect(McpConfigurations.parse({headers: {a: '1'}, passthrough_headers: {b: '2'}})).toEqual({
      ...{custom_headers: {a: '1'}, passthrough_header: {b: '2'}},
    })
    expect(faultOf({headers: {}, custom_headers: {}})).toMatch(/^headers: is another spelling of custom_headers/)
  })

  test.each<[object, RegExp]>([
    [{customheaders: {}}, /customheaders.*custom_headers/],
    [{custom_headers: {'x y': '1'}}, /^custom_headers/],
    [{custom_headers: {x: 'a\r\nb'}}, /^custom_headers\.x/],
    [{custom_headers: Object.fromEntries(Array.from({length: 101}, (_, at) => [`x-${at}`, '']))}, /at most 100/],
    [{passthrough_header: {x: 1}}, /^passthrough_header\.x/],
    [{forward_headers: ['x y']}, /^forward_headers\[0\]/],
    [{forward_headers: {mode: 'all', headers: []}}, /^forward_headers\.mode/],
    [{forward_headers: {mode: 'allowlist', headers: [{from: 'a', to: 'b', as: 'c'}]}}, /forward_headers\.headers\[0\]/],
    [{oauth_metadata: {clientId: 'a'}}, /^oauth_metadata\.?.*clientId.*client_id/],
    [{oauth_metadata: {oauth_metadata: {}}}, /oauth_metadata/],
    [{oauth_metadata: {resource: 'no'}}, /^oauth_metadata\.resource/],
    [{oauth_metadata: {token_endpoint: 'ftp://a'}}, /^oauth_metadata\.token_endpoint: expected a URL/],
    [{oauth_metadata: {token_endpoint: 'https://u:p@a'}}, /^oauth_metadata\.token_endpoint/],
    [{oauth_metadata: {scope: 'a  b'}}, /^oauth_metadata\.scope/],
    [{oauth_metadata: {authorization_params: {a: 1}}}, /^oauth_metadata\.authorization_params\.a/],
    ...[
      ...['response_type', 'client_id', 'client_secret', 'code_challenge', 'code_challenge_method'],
      ...['redirect_uri', 'state', 'scope', 'resource'],
    ].map((name): [object, RegExp] => [
      {oauth_metadata: {authorization_params: {[name]: 'a'}}},
      new RegExp(`^oauth_metadata\\.authorization_params\\.${name}: is a parameter that the gateway writes itself`),
    ]),
    [{user_identity_forwarding: {}}, /^user_identity_forwarding\.method/],
    [{user_identity_forwarding: {method: 'jwt_header', header_name: 'Authorization'}}, /header_name: is a header with/],
    [{user_identity_forwarding: {method: 'jwt_header', header_name: 'Mcp-Name'}}, /header_name: is a header with/],
    [{user_identity_forwarding: {method: 'jwt_header', jwt_expiry_seconds: 5}}, /jwt_expiry_seconds/],
    [{jwt_validation: {}}, /^jwt_validation: expected one of jwks, jwksUri and introspectEndpoint/],
    [{jwt_validation: {jwks: {keys: []}, jwksUri: 'https://a'}}, /^jwt_validation: expected one of/],
    [{jwt_validation: {jwks: 'no'}}, /^jwt_validation\.jwks: expected a key set/],
    [{jwt_validation: {jwksUri: 'https://a', algorithms: ['HS256']}}, /^jwt_validation\.algorithms\[0\]/],
    [{jwt_validation: {jwksUri: 'https://a', algorithms: ['none']}}, /^jwt_validation\.algorithms\[0\]/],
    [{jwt_validation: {jwksUri: 'https://a', maxTokenAge: 'soon'}}, /^jwt_validation\.maxTokenAge: expected a time/],
    [
      {jwt_validation: {jwksUri: 'https://a', claimValues: {a: {values: ['(?=x)'], matchType: 'regex'}}}},
      /^jwt_validation\.claimValues\.a\.values\[0\]: is a pattern that is not available/,
    ],
    [{external_auth_config: {token_endpoint: 'https://a'}}, /^external_auth_config\.authorization_endpoint/],
    [{tool_prices: {tools: {search: -1}}}, /^tool_prices\.tools\.search/],
    [{tool_pinning: 'on'}, /^tool_pinning/],
    [{new_capabilities: 'ask'}, /^new_capabilities/],
  ])('%j is refused by its path', (value, sentence) => {
    expect(faultOf(value)).toMatch(sentence)
  })
})
