import {expect, test} from 'vitest'
import {plainPath} from '../../../src/app/mcp-plain.ts'

test.each([
  ['/docs/mcp', {workspace: null, server: 'docs'}],
  ['/research/docs/mcp', {workspace: 'research', server: 'docs'}],
  ['/Docs_2/mcp', {workspace: null, server: 'Docs_2'}],
])('a plain request of %s is read at once', (url, place) => {
  expect(plainPath(url)).toEqual(place)
})

// the router decodes, knows of slashes at the end, and gives each plane its own
test.each([
  '/mcp',
  '/docs/mcp/',
  '/docs/mcp?key=1',
  '/d%6Fcs/mcp',
  '/a/b/c/mcp',
  '/v1/mcp',
  '/v1/docs/mcp',
  '/v1beta/docs/mcp',
  '/v2/docs/mcp',
  '/api/mcp',
  '/openai/v1/mcp',
  '/docs/MCP',
  '/docs.x/mcp',
  '//mcp',
])('%s is for the router', url => {
  expect(plainPath(url)).toBeNull()
})
