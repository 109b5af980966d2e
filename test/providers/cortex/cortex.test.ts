import {cortex} from '../../../src/providers/cortex/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(cortex, {chatComplete: 3})
testHostile(cortex, ['chatComplete'])
