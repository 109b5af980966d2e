import {triton} from '../../../src/providers/triton/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(triton, {complete: 3})
testHostile(triton, ['complete'])
