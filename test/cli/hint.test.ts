import {expect, test} from 'vitest'
import {typedAgain} from '../../cli/hint.ts'

test.each([
  [['providers', 'add', 'x', '--api-key', 'sk-1'], 'providers add x --api-key …'],
  [['providers', 'add', 'x', '--key=sk-1'], 'providers add x --key=…'],
  [['providers', 'add', 'x', '--set', 'a=s1', 'b=s2', '--name', 'n'], 'providers add x --set a=… b=… --name n'],
  [['providers', 'add', 'x', '--set=a=s1', 'b=s2'], 'providers add x --set=a=… b=…'],
  [['keys', 'add', "it's"], "keys add 'it'\\''s'"],
])('a line that is said again holds no secret: %j', (argv, said) => {
  expect(typedAgain(argv, ' --yes')).toBe(`gateway ${said} --yes`)
})
