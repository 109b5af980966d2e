import {reka} from '../../../src/providers/reka/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(reka, {chatComplete: 3})
testHostile(reka, ['chatComplete'])
