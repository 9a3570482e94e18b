//! Forms for 3270s, in virtual time.

use cuesta_lines::{Options, Tn3270, loopback, receive};

use crate::user::{ON_THE_WAY, User, front, in_virtual_time};

#[test]
fn records_that_come_ahead_are_all_answered() {
    const RECORDS: usize = 200;
    in_virtual_time(async {
        let front = front(r#"{"service":{"form":{"reply":1}},"delay":"50ms"}"#);
        let (line, served) = loopback::pair(ON_THE_WAY);
        let line = Tn3270::terminal(line, &Options::default(), true, None);
        let mut user = User::on(line, Tn3270::host(served), &front);
        let mut buffer = [0; 512];
        receive(&mut *user.line, &mut buffer).await.expect("the first screen");
        // Enter, the cursor's place, nothing modified: more than the front end takes ahead, in records and in characters.
        user.send(&b"\x7d\x40\x40\xff\xef".repeat(RECORDS)).await.expect("the line takes it");
        let mut answers = 0;
        while answers < RECORDS {
            let received = receive(&mut *user.line, &mut buffer).await.expect("the line is open");
            assert!(received.len > 0, "the host closed the line after {answers} answers");
            answers += buffer[..received.len].windows(2).filter(|pair| *pair == b"\xff\xef").count();
        }
        assert_eq!(front.meters()["messages"]["out"], RECORDS);
    });
}
