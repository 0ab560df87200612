// Validates PDFs with veraPDF's engine: names of files come in on standard input, one to a line,
// and for each file and profile a line goes out: OK, FAIL or ERROR, the profile, the file, and what
// is wrong, parted by tabs.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

public class Validate {
  public static void main(String[] profiles) throws Exception {
    Logger.getLogger("").setLevel(Level.OFF);
    VeraGreenfieldFoundryProvider.initialise();
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader names =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String name = names.readLine(); name != null; name = names.readLine()) {
      for (String profile : profiles) {
        out.println(validated(name, profile));
      }
    }
  }

  private static String validated(String name, String profile) {
    PDFAFlavour flavour = PDFAFlavour.fromString(profile);
    try (PDFAParser parser = Foundries.defaultInstance().createParser(new File(name), flavour)) {
      PDFAValidator validator = Foundries.defaultInstance().createValidator(flavour, false);
      ValidationResult result = validator.validate(parser);
      TreeSet<String> problems = new TreeSet<>();
      for (TestAssertion found : result.getTestAssertions()) {
        if (found.getStatus() == TestAssertion.Status.FAILED) {
          problems.add(
              found.getRuleId().getClause()
                  + "-"
                  + found.getRuleId().getTestNumber()
                  + " "
                  + found.getMessage());
        }
      }
      return line(result.isCompliant() ? "OK" : "FAIL", profile, name, String.join("; ", problems));
    } catch (Exception problem) {
      return line("ERROR", profile, name, problem.toString());
    }
  }

  private static String line(String outcome, String profile, String name, String says) {
    return String.join("\t", outcome, profile, name, says.replaceAll("\\s+", " "));
  }
}
