import {nomic} from '../../../src/providers/nomic/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(nomic, {embed: 3})
testHostile(nomic, ['embed'])
